import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { request } from 'undici';
import { startGateway } from '../support/gateway.ts';
import { recordedAnswer, startUpstream } from '../support/upstream.ts';

/**
 * The most source files that one request may enter, from socket to socket. They are lowered when a change shortens the path; a change
 * that lengthens it has to say why.
 */
const paths = [
  { from: '/v1/messages', stream: false, most: 90 },
  { from: '/v1/messages', stream: true, most: 90 },
  { from: '/v1/chat/completions', stream: false, most: 85 },
  { from: '/v1/chat/completions', stream: true, most: 86 },
] as const;

const warmUps = 3;
/**
 * Files that only timers enter are missing from at least one of these requests. On a busy machine, a timer may run during several in a
 * row, so more requests are measured while the list is too long.
 */
const measured = 100;

for (const { from, stream, most } of paths) {
  test.serial(`${from} → chat, ${stream ? 'streamed' : 'whole'}: a request enters at most ${most} files`, async (t) => {
    const upstream = await startUpstream(() =>
      recordedAnswer(`openai-chat/${stream ? 'text-usage-obfuscation.sse' : 'json-cached-tokens.json'}`),
    );
    t.teardown(upstream.close);
    const gateway = await startGateway({
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
      transformers: [{ name: 'openai', provider: 'p' }],
    });
    t.teardown(gateway.stop);
    const body = JSON.stringify({ model: 'p,m', max_tokens: 16, stream, messages: [{ role: 'user', content: 'hi' }] });
    const send = async (): Promise<void> => {
      const headers = { 'content-type': 'application/json' };
      const answer = await request(`${gateway.baseUrl}${from}`, { method: 'POST', headers, body });
      t.is(answer.statusCode, 200, await answer.body.text());
    };
    for (let done = 0; done < warmUps; done += 1) await send();

    const session = new Session();
    session.connect();
    t.teardown(() => session.disconnect());
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    let entered: readonly string[] | undefined;
    for (let done = 0; done < measured && (entered?.length ?? Number.POSITIVE_INFINITY) > most; done += 1) {
      await send();
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const files = new Set(result.flatMap(enteredFiles));
      entered = entered?.filter((file) => files.has(file)) ?? [...files].sort();
    }
    const list = entered ?? [];
    t.true(list.includes('engine/pipeline.ts') && list.includes('protocols/chat/usage.ts'), 'files are recognised');
    t.true(list.length <= most, `${list.length} files:\n${list.join('\n')}`);
  });
}

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}

/** Source files of the gateway with a function that was called. Tests run compiled: a comment precedes each file in its chunk. */
const enteredFiles = ({ url, functions }: ScriptCoverage): readonly string[] => {
  if (!url.startsWith('file:') || !url.endsWith('.mjs')) return [];
  const starts = startsOf(url);
  return functions.flatMap(({ ranges: [range] }) => {
    if (!range || range.count === 0) return [];
    const file = starts.findLast(({ at }) => at <= range.startOffset)?.file;
    return file !== undefined && /^(?:engine|protocols|transformers)\//.test(file) ? [file] : [];
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
