import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { loadStages } from '../../../../engine/config/custom/load-stages.ts';
import { Losses } from '../../../../engine/model/loss.ts';
import { plainRequest } from '../../../support/context.ts';
import { startGateway } from '../../../support/gateway.ts';
import { stageContext } from '../../../support/stage-context.ts';
import { until } from '../../../support/until.ts';
import { chatReply } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream, type UpstreamAnswer } from '../../../support/upstreams/upstream.ts';

/** What a custom stage does is seen, named, and without effect on anything else. */
const start = async (
  t: ExecutionContext,
  module: string,
  more: object = {},
  answers: readonly UpstreamAnswer[] = [],
) => {
  const left = [...answers];
  const bodies: Record<string, unknown>[] = [];
  const upstream = await startUpstream(({ body }) => {
    bodies.push(Object(body));
    return left.shift() ?? jsonAnswer(chatReply('hello'));
  });
  t.teardown(() => upstream.close());
  const gateway = await startGateway(
    {
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k-of-the-provider', models: ['m'] }],
      transformers: [{ path: 'stage.ts' }],
      ...more,
    },
    {},
    { files: { 'stage.ts': module } },
  );
  t.teardown(gateway.stop);
  const post = async (path: string, body: object) => {
    const response = await fetch(gateway.baseUrl + path, { method: 'POST', body: JSON.stringify(body) });
    return { status: response.status, losses: response.headers.get('x-junctor-losses'), text: await response.text() };
  };
  return { ...gateway, bodies, post };
};

const asked = { model: 'p,m', max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'text', text: 'S' }] }] };

test('explain shows the cause of a failing stage with its file and line, and logs it', async (t) => {
  const { post, home } = await start(
    t,
    [
      "import { transformer } from 'junctor/transformer';",
      'type Unused = { readonly a: string };',
      'export default transformer({',
      "  name: 'broken',",
      '  request() {',
      "    throw new RangeError('no such word: k-of-the-provider');",
      '  },',
      '});',
    ].join('\n'),
  );
  const { status, text } = await post('/api/explain', { client: 'messages', body: asked });
  t.is(status, 500);
  t.regex(text, /Transformer \\"broken\\" failed on the request: RangeError: no such word: .*\(.*stage\.ts:6:\d+\)/);
  t.notRegex(text, /k-of-the-provider/);
  await until(async () => /no such word/.test(await readFile(join(home, 'app.log'), 'utf8').catch(() => '')));
  // A client sees neither cause nor file.
  t.notRegex((await post('/v1/messages', asked)).text, /no such word|stage\.ts/);
});

const inPlace = `export default { name: 'place', request(request) { request.turns[0].parts[0].text += '+m'; return request; } };`;

test('each attempt begins with the same request, whatever a stage changed in place', async (t) => {
  const { post, bodies } = await start(t, inPlace, {}, [jsonAnswer({ error: { message: 'busy' } }, 503)]);
  t.is((await post('/v1/messages', asked)).status, 200);
  t.is(bodies.length, 2);
  for (const { messages } of bodies) t.true(JSON.stringify(messages).includes('"S+m"'), JSON.stringify(messages));
});

test('explain gives stages a frozen request, so that a change in place shows', async (t) => {
  const { post } = await start(t, inPlace);
  const { status, text } = await post('/api/explain', { client: 'messages', body: asked });
  t.is(status, 500);
  t.regex(text, /TypeError: Cannot assign to read only property 'text'.*stage\.ts:1:\d+/);
});

test('what a stage drops is a loss; a cache mark of a stage has its own path', async (t) => {
  const { post } = await start(
    t,
    `export default { name: 'drops', request: (request) => ({ ...request, tools: [], turns: request.turns.slice(1),
      system: request.system.map((part) => ({ ...part, cache: {} })) }) };`,
  );
  const { text } = await post('/api/explain', {
    client: 'messages',
    body: {
      ...asked,
      system: [{ type: 'text', text: 'be kind' }],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      messages: [...asked.messages, { role: 'assistant', content: 'yes' }, ...asked.messages],
    },
  });
  const { losses } = JSON.parse(text);
  const named = losses.map(({ path, step }: { path: string; step: string }) => `${step}: ${path}`);
  t.true(named.includes('drops: tools[0]'), text);
  t.true(named.includes('drops: messages[0]'), text);
  t.true(
    named.some((one: string) => one.endsWith(': system[0].cache_control')),
    text,
  );
  t.false(
    named.some((one: string) => one.endsWith(': system[0]')),
    text,
  );
});

test('a module whose files and options stay the same keeps its state over reloads; a changed one is loaded anew', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const counter = `let count = 0; export const next = () => ++count;`;
  const module = `import { next } from './counter.ts';
    export default (options) => { let own = 0; return { name: 'n', request: (r) => ({ ...r, model: options.word + next() + '/' + ++own }) } };`;
  await writeFile(join(home, 'counter.ts'), counter);
  await writeFile(join(home, 'n.ts'), module);
  await writeFile(join(home, 'other.ts'), module.replace("'n'", "'other'"));
  const load = async (...words: readonly string[]) => {
    const entries = words.map((word, index) => ({ at: `t[${index}]`, name: 'n', path: 'n.ts', options: { word } }));
    const stages = await loadStages(entries, { home, allowed: [] });
    return [...stages.values()].map((loaded) =>
      'stage' in loaded
        ? loaded.stage.request?.(plainRequest, new Losses('test'), stageContext()).model
        : loaded.problem,
    );
  };
  t.deepEqual(await load('a'), ['a1/1']);
  t.deepEqual(await load('a'), ['a2/2']);
  // Another place in the list, and an equal entry beside it, whose state is its own.
  t.deepEqual(await load('b', 'a', 'a'), ['b3/1', 'a4/3', 'a5/1']);
  await writeFile(join(home, 'other.ts'), '// changed');
  t.deepEqual(await load('a'), ['a6/4']);
  await writeFile(join(home, 'counter.ts'), `${counter} // changed`);
  t.deepEqual(await load('a'), ['a1/1']);
});

test('a broken edit shows in /health and in the list of transformers, until it is mended', async (t) => {
  const good = `export default { name: 'mine', request: (request) => request };`;
  const { baseUrl, home, post } = await start(t, good);
  const health = async () => (await fetch(`${baseUrl}/health`)).json();
  const row = async () => {
    const { transformers } = JSON.parse(await (await fetch(`${baseUrl}/api/transformers`)).text());
    return transformers.find(({ name }: { name: string }) => name === 'mine');
  };
  t.deepEqual(await health(), { status: 'ok' });
  t.like(await row(), { state: 'loaded' });
  await writeFile(join(home, 'stage.ts'), 'export default { name: ');
  await until(async () => Object(await health()).modules === 'stale');
  const stale = await row();
  t.is(stale.state, 'stale');
  t.regex(stale.error, /The changed module can't be used: stage\.ts/);
  t.is((await post('/v1/messages', asked)).status, 200, 'what was loaded before serves');
  await writeFile(join(home, 'stage.ts'), `${good} // mended`);
  await until(async () => Object(await health()).modules === undefined);
  t.like(await row(), { state: 'loaded' });
});
