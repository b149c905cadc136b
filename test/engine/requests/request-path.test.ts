import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { startGateway } from '../../support/gateway.ts';
import { recordedAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

/**
 * The most functions that one request may call, from socket to socket. What is counted: functions of the gateway's own files (`engine`,
 * `protocols`, `transformers`) that V8's precise coverage says were called at least once, each once however often it is called,
 * without the top level of modules. Moving a function to another file changes nothing. The limits are 2 % above what was
 * measured when they were set; they are lowered when a change shortens the path, and a change that lengthens it says why.
 */
const paths = [
  // From Messages to another format, express-request.ts looks for what only Messages has.
  { from: '/v1/messages', stream: false, most: 657 },
  { from: '/v1/messages', stream: true, most: 710 },
  { from: '/v1/chat/completions', stream: false, most: 536 },
  { from: '/v1/chat/completions', stream: true, most: 634 },
] as const;

/** Source files, or folders of them, that only requests that use the feature may enter. */
const features: Readonly<Record<string, readonly string[]>> = {
  'facts about models, once they are known': [
    'engine/routing/catalogue/known-model.ts',
    'engine/routing/catalogue/vendor-lists.ts',
  ],
  'what models lack': ['engine/model/models/adapt-to-model.ts'],
  "the user's own rules": ['engine/routing/rules/'],
  'conditions of stages': ['engine/routing/rules/stage-conditions.ts'],
  'a router module': ['engine/operators/ask-router.ts', 'engine/config/custom/'],
  pools: ['engine/routing/pools.ts', 'engine/routing/pool-strategies.ts', 'engine/upstream/health/load.ts'],
  'headers, parameters and body members of a provider': [
    'engine/config/sections/call-extras.ts',
    'engine/model/json/merge-patch.ts',
  ],
  "clients' own credentials": ['engine/operators/client-credentials.ts'],
  'several base URLs': ['engine/upstream/health/addresses.ts'],
  "stages' call halves": ['engine/operators/change-call.ts'],
  "stages' request halves": ['engine/operators/transform.ts', 'transformers/cachepoints.ts'],
};

/** The features that functions of a list belong to, each with these functions. */
const usedBy = (functions: readonly string[]) =>
  Object.entries(features).flatMap(([feature, places]) => {
    const own = functions.filter((name) => places.some((place) => name.startsWith(place)));
    return own.length > 0 ? [{ feature, functions: own }] : [];
  });

const warmUps = 3;
/**
 * Functions that only timers call are missing from at least one of these requests. On a busy machine, a timer may run during several in
 * a row, so more requests are measured while the list is too long or has functions of features.
 */
const measured = 100;

for (const { from, stream, most } of paths) {
  test.serial(
    `${from} → chat, ${stream ? 'streamed' : 'whole'}: a request calls at most ${most} functions`,
    async (t) => {
      const upstream = await startUpstream(() =>
        recordedAnswer(`openai-chat/${stream ? 'text-usage-obfuscation.sse' : 'json-cached-tokens.json'}`),
      );
      t.teardown(upstream.close);
      const gateway = await startGateway({
        Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
        transformers: [{ name: 'openai', provider: 'p' }],
      });
      t.teardown(gateway.stop);
      const body = JSON.stringify({
        model: 'p,m',
        max_tokens: 16,
        stream,
        messages: [{ role: 'user', content: 'hi' }],
      });
      const send = async (): Promise<void> => {
        const headers = { 'content-type': 'application/json' };
        const answer = await request(`${gateway.baseUrl}${from}`, { method: 'POST', headers, body });
        t.is(answer.statusCode, 200, await answer.body.text());
      };
      for (let done = 0; done < warmUps; done += 1) await send();

      const functionsCalled = await startCoverage(t);
      await send();
      let list: readonly string[] = [...(await functionsCalled())].sort();
      for (let done = 1; done < measured && (list.length > most || usedBy(list).length > 0); done += 1) {
        await send();
        const called = await functionsCalled();
        list = list.filter((name) => called.has(name));
      }
      const isIn = (file: string): boolean => list.some((name) => name.startsWith(`${file} `));
      t.true(isIn('engine/pipeline.ts') && isIn('protocols/chat/reply-end.ts'), 'files are recognised');
      t.deepEqual(usedBy(list), [], 'a request calls no function of a feature that it does not use');
      t.true(list.length <= most, `${list.length} functions:\n${list.join('\n')}`);
    },
  );
}

test.serial('requests that use a feature call its functions', async (t) => {
  const functionsCalled = await startCoverage(t);
  const upstream = await startUpstream(() => recordedAnswer('openai-chat/json-cached-tokens.json'));
  t.teardown(upstream.close);
  const bare = { name: 'bare', lacks: ['sampling'], body: { seed: null } };
  const gateway = await startGateway(
    {
      Providers: [
        { name: 'p', baseUrl: upstream.url, otherBaseUrls: [`${upstream.url}/b`], apiKey: 'k', models: ['m', bare] },
        { name: 'q', baseUrl: upstream.url, credentials: 'client', models: ['m'] },
      ],
      Pools: [{ name: 'both', strategy: 'fastest', members: [{ to: 'p,m' }, { to: 'p,bare' }] }],
      Router: { default: 'both', module: 'route.js', rules: [{ name: 'r', when: { images: true }, to: 'p,m' }] },
      transformers: ['cachepoints', { path: 'call.js', when: { images: false } }],
    },
    {},
    {
      files: {
        'route.js': 'export default () => undefined;',
        'call.js': `export default { name: 'call', call: () => ({ body: { user: 'u' } }) };`,
      },
    },
  );
  t.teardown(gateway.stop);
  for (const model of ['any', 'p,bare', 'q,m']) {
    const answer = await request(`${gateway.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { authorization: 'Bearer key' },
      body: JSON.stringify({ model, max_tokens: 16, temperature: 0.5, messages: [{ role: 'user', content: 'hi' }] }),
    });
    t.is(answer.statusCode, 200, await answer.body.text());
  }
  const called = [...(await functionsCalled())];
  const missing = Object.values(features).flatMap((places) =>
    places.filter((place) => !called.some((name) => name.startsWith(place))),
  );
  t.deepEqual(missing, []);
});

/** Starts counting; the function returns the functions that were called since the call before. */
const startCoverage = async (t: ExecutionContext): Promise<() => Promise<ReadonlySet<string>>> => {
  const session = new Session();
  session.connect();
  t.teardown(() => session.disconnect());
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return new Set(result.flatMap(calledFunctions));
  };
};

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}

/**
 * Functions of the gateway that were called: file, name and place, since many have no name. Tests run compiled: a comment precedes each
 * file in its chunk.
 */
const calledFunctions = ({ url, functions }: ScriptCoverage): readonly string[] => {
  if (!url.startsWith('file:') || !url.endsWith('.mjs')) return [];
  const starts = startsOf(url);
  return functions.flatMap(({ functionName, ranges: [range] }) => {
    if (!range || range.count === 0) return [];
    const start = starts.findLast(({ at }) => at <= range.startOffset);
    if (start === undefined || !/^(?:engine|protocols|transformers)\//.test(start.file)) return [];
    return [`${start.file} ${functionName} ${range.startOffset - start.at}`];
  });
};

const known = new Map<string, readonly { readonly at: number; readonly file: string }[]>();

const startsOf = (url: string) => {
  const text = readFileSync(fileURLToPath(url), 'utf8');
  const starts =
    known.get(url) ??
    [...text.matchAll(/^ *\/\/ (\S+\.[cm]?[jt]s)$/gm)].map(({ index, 1: file = '' }) => ({ at: index, file }));
  known.set(url, starts);
  return starts;
};
