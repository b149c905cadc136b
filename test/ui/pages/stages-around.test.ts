import test from 'ava';
import { layOut } from '../../../ui/src/pages/routing/drawing/lay-out.ts';
import { graphOf } from '../../../ui/src/pages/routing/drawing/routing-graph.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { hasBrowser, startBrowser, type TestBrowser, violations } from '../../support/processes/browser.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../../support/upstreams/upstream.ts';

const judge = `import { transformer } from 'junctor/transformer';
  export default transformer({ name: 'judge', async around(request, next, context) {
    await context.ask('p,guard', 'safe?'); return next(request); } });`;

const transformers = [{ path: 'judge.ts', models: ['small'], ask: ['p,guard'] }];

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let browser: TestBrowser;

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(() => jsonAnswer(chatReply('Hello')));
  gateway = await startGateway(
    {
      LOG: false,
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['small', 'guard'] }],
      Router: { default: 'p,small' },
      transformers,
    },
    {},
    { files: { 'judge.ts': judge } },
  );
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

type Known = Parameters<typeof graphOf>[1][number];

const custom: Known = {
  name: 'judge',
  endpoint: null,
  kind: 'custom',
  about: '',
  options: null,
  halves: { request: false, events: false, call: false, around: true },
  state: 'loaded',
  path: 'judge.ts',
};

test('a stage around the call is a box with its destination in it, and a link to each that it may ask', (t) => {
  const config = {
    Providers: [{ name: 'p', models: ['small', 'guard'] }],
    Router: { default: 'p,small' },
    transformers,
  };
  const graph = graphOf(config, [custom], []);
  const wide = layOut(graph, 1_000);
  const placed = (id: string) => wide.nodes.find((node) => node.id === id);
  const [frame, ...others] = wide.frames;
  t.deepEqual([frame?.id, others], ['stages/to/p,small', []]);
  for (const id of ['stages/to/p,small', 'to/p,small']) {
    const { x = 0, y = 0, width = 0, height = 0 } = placed(id) ?? {};
    const { x: left = 0, y: top = 0, width: wideness = 0, height: highness = 0 } = frame ?? {};
    t.true(left <= x && top <= y && left + wideness >= x + width && top + highness >= y + height, id);
  }
  t.like(placed('stages/to/p,small'), { about: 'judge.ts\njudge.ts is around the call and may ask p,guard' });
  t.deepEqual(
    wide.links.filter(({ isAsk }) => isAsk).map(({ from, to }) => `${from} > ${to}`),
    ['stages/to/p,small > to/p,guard'],
  );
  t.deepEqual(layOut(graph, 400).frames, [], 'there is no room for stages');
});

test('a stage that asks models, shipped or custom, is a box around its destinations', (t) => {
  const shipped = {
    ...custom,
    name: 'see',
    kind: 'stage',
    asks: true,
    halves: { ...custom.halves, around: false },
  } as const;
  const graph = graphOf(
    {
      Providers: [{ name: 'p', models: ['a', 'b', 'guard'] }],
      Router: { default: 'p,a', routes: { think: 'p,b' } },
      transformers: [
        { name: 'see', models: ['a', 'b'], ask: ['p,guard'] },
        { name: 'see', models: ['guard'] },
      ],
    },
    [shipped],
    [],
  );
  const { frames, nodes } = layOut(graph, 1_000);
  t.deepEqual(
    frames.map(({ id }) => id),
    ['stages/to/p,b', 'stages/to/p,guard'],
  );
  t.is(frames[0]?.height, (nodes.find(({ id }) => id === 'stages/to/p,b')?.height ?? 0) + 6);
  t.is(nodes.find(({ id }) => id === 'stages/to/p,b')?.about, 'see\nsee may ask p,guard');
  t.is(nodes.find(({ id }) => id === 'stages/to/p,guard')?.about, 'see\nsee has no model to ask');
});

test('a link leads from a rule to each model that its condition asks', (t) => {
  const decides = { ask: 'p,guard', question: 'Is it?' };
  const graph = graphOf(
    {
      Providers: [{ name: 'p', models: ['small', 'guard'] }],
      Router: {
        default: 'p,small',
        rules: [{ name: 'r', when: { any: [{ decides }, { not: { decides } }] }, to: 'p,small' }],
      },
    },
    [],
    [],
  );
  t.deepEqual(
    graph.links.filter(({ isAsk }) => isAsk).map(({ from, to }) => `${from} > ${to}`),
    ['rule/0 > to/p,guard'],
  );
});

test('a stage with a condition says by which facts it runs', (t) => {
  const { nodes } = graphOf(
    {
      Providers: [{ name: 'p', models: ['small'] }],
      Router: { default: 'p,small' },
      transformers: ['tooluse', { name: 'maxtoken', when: { client: 'chat', not: { images: true } } }],
    },
    [],
    [],
  );
  const { about } = nodes.find(({ id }) => id === 'stages/to/p,small') ?? {};
  t.is(about, 'tooluse, maxtoken\nmaxtoken runs only by its condition: Client protocol, Not');
});

browserTest('the drawing, the stage’s row, and the calls in a request’s path', async (t) => {
  const body = JSON.stringify({ model: 'p,small', messages: [{ role: 'user', content: 'x' }] });
  const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body });
  const id = answer.headers.get('x-request-id');
  await answer.text();
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/routing`);
  await page.locator('.routing-frame').waitFor();
  await page.getByText('may ask', { exact: true }).waitFor();
  const scrolling = `[...document.querySelectorAll('.split-main, .split-main *')].filter((one) => one.scrollHeight > one.clientHeight + 1
    && /auto|scroll/.test(getComputedStyle(one).overflowY)).map((one) => one.className)`;
  t.deepEqual(await page.evaluate(scrolling), [], 'the page alone scrolls');
  await page.locator('[data-node="to/p,guard"]').waitFor();
  await page.locator('[data-node="to/p,small"]').click();
  await page.getByText('judge.ts is around the call and may ask p,guard').waitFor();
  t.deepEqual(await violations(page), []);
  await page.locator('[data-node="stages/to/p,small"]').click();
  await page.getByText('around the call', { exact: true }).waitFor();
  await page.getByLabel('Add a transformer').selectOption('stage judge');
  const asked = page.getByRole('group', { name: 'Whom it asks' }).getByLabel('p,guard');
  await asked.check();
  t.true(await asked.isChecked());
  t.deepEqual(await violations(page), []);

  const requestTab = await browser.open(`${gateway.baseUrl}/ui#/requests/${id}`);
  const calls = requestTab.page.getByRole('region', { name: 'Calls of stages' });
  await calls.getByRole('link', { name: 'p,guard' }).waitFor();
  t.regex(await calls.innerText(), /judge asked p,guard/);
  t.deepEqual(await violations(requestTab.page), []);
  await calls.getByRole('link', { name: 'p,guard' }).click();
  await requestTab.page.getByText('The stage judge made this call for').waitFor();
  t.deepEqual([...complaints, ...requestTab.complaints], []);
});
