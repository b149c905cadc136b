import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { startGateway } from '../../support/gateway.ts';
import { until } from '../../support/until.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const rig = async (
  t: ExecutionContext,
  module: unknown,
  files: Readonly<Record<string, string>>,
  { router = {}, ...more }: { readonly router?: object; readonly [field: string]: unknown } = {},
) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('Hello')));
  const written = {
    LOG: false,
    Providers: [
      { name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'the-key-of-p', models: ['default', 'chosen'] },
      { name: 'dead', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['x'] },
    ],
    Router: { default: 'p,default', module, ...router },
    ...more,
  };
  const gateway = await startGateway(written, {}, { files });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const send = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const ask = async (model: string, text = 'Hi', headers = {}): Promise<string> => {
    const answer = await send('/v1/messages', messages(model, text), headers);
    const route = answer.headers.get('x-junctor-route');
    return route ?? `${answer.status} ${await answer.text()}`;
  };
  return { gateway, upstream, written, send, ask };
};

const messages = (model: string, text = 'Hi') => ({
  model,
  max_tokens: 9,
  messages: [{ role: 'user', content: text }],
});

const bodies = [
  ['/v1/messages', (text: string) => messages('any', text)],
  ['/v1/chat/completions', (text: string) => ({ model: 'any', messages: [{ role: 'user', content: text }] })],
  ['/v1/responses', (text: string) => ({ model: 'any', input: text })],
] as const;

const byText = `(text) => text.includes('choose me') ? 'p,chosen' : undefined`;

/** The forms of modules, each of which chooses by the user's last text. */
const forms: Readonly<Record<string, readonly [module: unknown, files: Readonly<Record<string, string>>]>> = {
  'a function in TypeScript': [
    'route.ts',
    {
      'route.ts': `import type { RouteQuestion } from 'junctor/transformer';
        const by = ${byText.replace('(text)', '(text: string)')};
        export default ({ request }: RouteQuestion) => {
          const part = request.turns.at(-1)?.parts.at(-1);
          return part?.type === 'text' ? by(part.text) : undefined;
        };`,
    },
  ],
  'a function that waits': [
    'route.js',
    {
      'route.js': `const by = ${byText};
        export default async ({ request, tokens }) => (await tokens()) > 0 && by(JSON.stringify(request.turns));`,
    },
  ],
  'an operator': [
    { path: 'route.mjs' },
    {
      'route.mjs': `import { rx } from 'junctor/transformer';
        const by = ${byText};
        export default { operator: rx.pipe(rx.delay(1), rx.map(({ request }) => by(JSON.stringify(request.turns)) ?? null)) };`,
    },
  ],
  'an operator that gives nothing': [
    'route.js',
    {
      'route.js': `import { rx } from 'junctor/transformer';
        const by = ${byText};
        export default { operator: (asked) => asked.pipe(rx.map(({ request }) => by(JSON.stringify(request.turns))), rx.filter(Boolean)) };`,
    },
  ],
  'a custom router of claude-code-router': [
    { path: 'router.js', form: 'messages' },
    {
      'router.js': `const by = ${byText};
        module.exports = async function router(req, config) {
          if (!(req.tokenCount > 0) || JSON.stringify(config).includes('the-key-of-p')) throw new Error('unexpected');
          if (config.Providers[0].name !== 'p' || config.Router.default !== 'p,default') throw new Error('unexpected');
          const last = req.body.messages.at(-1);
          req.body.messages = [];
          return by(typeof last.content === 'string' ? last.content : last.content[0].text) ?? null;
        };`,
    },
  ],
  'the same as an ES module': [
    { path: 'router.mjs', form: 'messages' },
    { 'router.mjs': `const by = ${byText}; export default (req) => by(JSON.stringify(req.body.messages));` },
  ],
};
for (const [title, [module, files]] of Object.entries(forms)) {
  test(`${title} routes requests of all protocols, or leaves them to the rules`, async (t) => {
    const { send, upstream } = await rig(t, module, files);
    for (const [path, bodyFor] of bodies) {
      // The second text is long enough for an outline, which leaves it out.
      for (const text of ['choose me', `choose me ${'word '.repeat(8_000)}`]) {
        const chosen = await send(path, bodyFor(text));
        t.is(chosen.headers.get('x-junctor-route'), 'p,chosen;module', await chosen.text());
        t.true(upstream.requests.at(-1)?.text.includes('choose me'), 'the request is unchanged');
      }
      const other = await send(path, bodyFor('no'));
      t.is(other.headers.get('x-junctor-route'), 'p,default;default', await other.text());
    }
  });
}

test('an explicit destination is not asked about; the module comes before rules; credentials are not shown to it', async (t) => {
  const { ask, gateway } = await rig(
    t,
    'route.js',
    {
      'route.js': `export default ({ request, header, path, key, client }) => {
        if (request.model === 'facts') return 'p,' + JSON.stringify([header('X-A'), header('authorization') ?? 0, path, key ?? 0, client]);
        if (request.model === 'several') return { to: ['dead,x', 'p,default'], reason: 'the first is cheap' };
        return request.model === 'dead' ? 'dead,x' : '';
      };`,
    },
    {
      RETRY: { attempts: 0 },
      router: { rules: [{ name: 'all', when: {}, to: 'p,chosen' }], fallback: { default: ['p,default'] } },
    },
  );
  t.is(await ask('several'), 'p,default;module', 'its own further destinations come first');
  t.is(await ask('p,x'), 'p,x;explicit');
  t.is(await ask('other'), 'p,chosen;rule/all');
  t.is(await ask('dead'), 'p,default;module', 'the fallbacks are those of the default');
  t.is(
    await ask('facts', 'Hi', { 'x-a': '1', authorization: 'Bearer secret' }),
    'p,["1",0,"/v1/messages",0,"messages"];module',
  );
  const { requests }: { requests: readonly object[] } = JSON.parse(
    await (await fetch(`${gateway.baseUrl}/api/requests`)).text(),
  );
  t.like(requests[0] ?? {}, { scenario: 'module', reason: 'module: route.js' });
  t.true(JSON.stringify(requests).includes('module: route.js, the first is cheap'));
  const { graphs } = JSON.parse(await (await fetch(`${gateway.baseUrl}/api/graph?client=chat`)).text());
  t.like(
    graphs[0].nodes.find(({ step }: { step: string }) => step === 'route'),
    { path: 'route.js' },
  );
});

const faults: readonly (readonly [title: string, source: string, message: RegExp])[] = [
  ['throws', `export default () => { throw new Error('secret') };`, /route\.js.* failed on the request/],
  ['rejects', `export default async () => { throw new Error('secret') };`, /failed on the request/],
  ['gives a number', 'export default () => 5;', /returned something other than destinations/],
  ['gives two', `import { of } from 'rxjs'; export default { operator: () => of('p,a', 'p,b') };`, /than destinations/],
  ['gives a list with a number', `export default () => ({ to: ['p,a', 5] });`, /than destinations/],
  [
    'gives an unknown provider',
    `export default () => 'nowhere,m';`,
    /returned a destination that matches no provider: .*nowhere,m/,
  ],
  ['gives an unknown model', `export default () => 'nothing';`, /returned a destination that matches no provider/],
  ['never answers', 'export default () => new Promise(() => undefined);', /gave no answer within 30 ms/],
  [
    'is an operator that never ends',
    `import { NEVER } from 'rxjs'; export default { operator: () => NEVER };`,
    /gave no answer/,
  ],
  ['exports nothing', 'export const a = 1;', /can't be used; app\.log says why/],
  ['has a syntax error', 'export default {', /can't be used/],
];
for (const [title, source, message] of faults) {
  test(`a router module that ${title} gives an error that names it, and explicit destinations are served`, async (t) => {
    const { ask, send } = await rig(t, 'route.js', { 'route.js': source }, { TIMEOUTS: { stageMs: 30 } });
    const answer = await ask('any');
    t.regex(answer, /^500 .*The router module/);
    t.regex(answer, message);
    t.false(answer.includes('secret'));
    t.is(await ask('p,x'), 'p,x;explicit');
    const chat = await send('/v1/chat/completions', { model: 'any', messages: [{ role: 'user', content: 'Hi' }] });
    t.like(JSON.parse(await chat.text()), { error: { code: 'router_failed' } });
  });
}

for (const [name, form, source] of [
  ['route.ts', 'question', (model: string) => `export default (): string => 'p,${model}';`],
  ['router.js', 'messages', (model: string) => `module.exports = async () => 'p,${model}';`],
] as const) {
  test(`an edit of ${name} on disk applies; one that fails leaves the loaded one in use`, async (t) => {
    const { ask, gateway } = await rig(t, { path: name, form }, { [name]: 'export default {' }, { LOG: true });
    t.regex(await ask('any'), /^500/);
    const file = join(gateway.home, name);
    for (const model of ['default', 'chosen']) {
      // Written again until it is seen: the watching may begin a little after the service does.
      while ((await ask('any')) !== `p,${model};module`) {
        await writeFile(file, source(model));
        await wait(250);
      }
    }
    await writeFile(file, 'export default {');
    const log = join(gateway.home, 'app.log');
    await until(async () => (await readFile(log, 'utf8')).includes("a changed transformer module can't be used"));
    t.is(await ask('any'), 'p,chosen;module');
  });
}

test('an unusable module is refused when it is configured, with its path; a deleted one does not block other changes', async (t) => {
  const { ask, gateway, written } = await rig(t, 'route.js', { 'route.js': `export default () => 'p,chosen';` });
  const check = async (module: unknown) => {
    const answer = await fetch(`${gateway.baseUrl}/api/config/check`, {
      method: 'POST',
      body: JSON.stringify({ ...written, Router: { ...written.Router, module } }),
    });
    const { faults }: { faults: readonly { path: string; message: string }[] } = JSON.parse(await answer.text());
    return faults.map(({ path, message }) => `${path} ${message}`).join('\n');
  };
  t.regex(await check('none.js'), /^Router\.module can't be used: none\.js: the file does not exist/);
  t.regex(await check('../route.js'), /^Router\.module can't be used: .*(?:outside|not exist)/);
  t.regex(await check({ path: 'route.js', from: 1 }), /^Router\.module\.from is unknown/);
  t.regex(await check({ path: 'route.js', form: 'older' }), /^Router\.module/);
  t.regex(await check(5), /^Router\.module must be/);
  await rm(join(gateway.home, 'route.js'));
  await until(async () => (await ask('any')) === 'p,chosen;module');
  const changed = await fetch(`${gateway.baseUrl}/api/config`, {
    method: 'POST',
    body: JSON.stringify({ ...written, Router: { default: 'p,chosen' } }),
  });
  t.is(changed.status, 200);
  t.is(await ask('any'), 'p,chosen;default');
});
