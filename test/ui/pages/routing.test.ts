import test from 'ava';
import fc from 'fast-check';
import { layOut, neighbourOf } from '../../../ui/src/pages/routing/drawing/lay-out.ts';
import { relatedTo } from '../../../ui/src/pages/routing/drawing/related.ts';
import { graphOf, wayOf } from '../../../ui/src/pages/routing/drawing/routing-graph.ts';
import { nodeOfField } from '../../../ui/src/pages/routing/edit-routing.ts';

/** A stage around the call that asks a destination which no rule leads to, and itself. */
const around = { path: 'around.ts', ask: ['p,b', 'q,far'] };

const known: Parameters<typeof graphOf>[1] = [
  {
    name: 'around',
    endpoint: null,
    kind: 'custom',
    about: '',
    options: null,
    halves: { request: false, events: false, call: false, around: true },
    state: 'loaded',
    path: 'around.ts',
  },
];

const destination = fc.constantFrom('p,a', 'p,b', 'q,c', 'gone,x', 'mix', 'spare', '');
const list = fc.array(destination, { maxLength: 4 });

/** Configurations as they are edited: wrong and unfinished ones, too. */
const configs = fc.record({
  Providers: fc.constant([
    { name: 'p', models: ['a', 'b'] },
    { name: 'q', models: ['c'] },
  ]),
  Pools: fc.array(
    fc.record({
      name: fc.constantFrom('mix', 'spare', ''),
      members: fc.array(fc.record({ to: destination }), { maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
  Router: fc.record({
    default: destination,
    routes: fc.dictionary(fc.constantFrom('image', 'think', 'background'), destination),
    fallback: fc.dictionary(fc.constantFrom('default', 'think'), list),
    rules: fc.array(fc.record({ name: fc.string(), when: fc.constant({}), to: list }), { maxLength: 30 }),
  }),
  transformers: fc.subarray([
    'maxtoken',
    { name: 'reasoning', provider: 'p' },
    { path: 'x.ts', models: ['c'] },
    around,
  ]),
});

const routed = (scenario: string, model: string, failed = false): Parameters<typeof graphOf>[2][number] => ({
  protocol: 'messages',
  scenario,
  provider: 'p',
  model,
  failed,
});

const overlaps = ({ nodes }: ReturnType<typeof layOut>): readonly string[] =>
  nodes.flatMap((one, at) =>
    nodes
      .slice(at + 1)
      .filter(
        (other) =>
          one.x < other.x + other.width &&
          other.x < one.x + one.width &&
          one.y < other.y + other.height &&
          other.y < one.y + one.height,
      )
      .map((other) => `${one.id} and ${other.id}`),
  );

test('a drawing of any routing has no node twice, no overlaps, and keeps within its width', (t) => {
  fc.assert(
    fc.property(configs, fc.integer({ min: 300, max: 2_000 }), (config, width) => {
      const graph = graphOf(config, known, [routed('default', 'a'), routed('explicit', 'elsewhere')]);
      const drawing = layOut(graph, width);
      const ids = drawing.nodes.map(({ id }) => id);
      return (
        new Set(ids).size === ids.length &&
        overlaps(drawing).length === 0 &&
        drawing.nodes.every((one) => one.x >= 0 && one.y >= 0 && one.x + one.width <= width && one.width > 40) &&
        drawing.nodes.every((one) => one.y + one.height <= drawing.height) &&
        drawing.frames.every((one) => one.x >= 0 && one.x + one.width <= width)
      );
    }),
    { numRuns: 150 },
  );
  t.pass();
});

test('arrow keys reach each node from any other, and end at the edges', (t) => {
  fc.assert(
    fc.property(configs, fc.constantFrom(390, 560, 1_000), (config, width) => {
      const drawing = layOut(graphOf(config, [], []), width);
      const reached = new Set<string>();
      const next = [drawing.nodes[0]?.id ?? ''];
      for (let id = next.pop(); id !== undefined; id = next.pop()) {
        if (reached.has(id)) continue;
        reached.add(id);
        for (const key of ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']) {
          const found = neighbourOf(drawing, id, key);
          if (found !== undefined) next.push(found);
        }
      }
      return reached.size === drawing.nodes.length;
    }),
    { numRuns: 60 },
  );
  const wide = layOut(graphOf({}, [], []), 1_000);
  t.is(neighbourOf(wide, 'client/messages', 'ArrowUp'), undefined);
  t.is(wide.links.filter(({ to }) => to === 'junction').length, 3, 'all clients meet');
});

const config = {
  Providers: [
    { name: 'p', models: ['a', 'b'] },
    { name: 'q', models: ['c'] },
  ],
  Pools: [{ name: 'mix', members: [{ to: 'p,a' }, { to: 'q,c' }] }],
  Router: {
    default: 'p,a',
    rules: [{ name: 'night', when: { time: {} }, to: ['mix', 'q,c'] }],
    fallback: { default: ['p,b'] },
  },
  transformers: ['maxtoken', { name: 'reasoning', provider: 'q' }],
};

test('the graph has own rules before scenarios, ways with shares, fallbacks and stages', (t) => {
  const requests = [routed('default', 'a'), routed('default', 'a', true), routed('rule/night', 'a')];
  const { nodes, links } = graphOf(config, [], requests);
  const rules = nodes.filter(({ column }) => column === 'rule').map(({ id }) => id);
  t.deepEqual(rules.slice(0, 2), ['named', 'rule/0']);
  t.is(rules.at(-1), 'scenario/default');
  t.like(
    nodes.find(({ id }) => id === 'scenario/default'),
    { requests: 2, failed: 1 },
  );
  t.is(nodes.find(({ id }) => id === 'scenario/image')?.state, 'off');
  t.is(nodes.find(({ id }) => id === 'stages/member/0/1')?.about, 'maxtoken, reasoning');
  t.like(
    links.find(({ from, to }) => from === 'rule/0' && to === 'pool/0'),
    { isFallback: false, share: 1 / 3 },
  );
  t.true(links.some(({ from, to, isFallback }) => from === 'scenario/default' && to === 'stages/to/p,b' && isFallback));
});

test('named models are one box, a member of a pool is drawn once, and stages once for each provider', (t) => {
  const { nodes, links } = graphOf(
    { ...config, Router: { ...config.Router, routes: { think: 'p,b', image: 'q' }, default: 'p,d' } },
    [],
    [routed('explicit', 'a'), routed('explicit', 'elsewhere'), routed('think', 'b')],
  );
  const destinations = nodes.filter(({ column }) => column === 'destination').map(({ id }) => id);
  t.deepEqual(destinations, ['directly', 'pool/0', 'member/0/0', 'member/0/1', 'to/q', 'to/p,b', 'to/p,d']);
  t.like(nodes[nodes.findIndex(({ id }) => id === 'directly')], { about: '2 models', requests: 2 });
  t.is(nodes.find(({ id }) => id === 'member/0/0')?.requests, 0, 'it was asked for by name');
  t.deepEqual(
    links.filter(({ from }) => from === 'named').map(({ to, share }) => [to, share]),
    [['directly', 0]],
  );
  t.deepEqual(nodes.find(({ id }) => id === 'stages/to/p,b')?.rows, ['to/p,b', 'to/p,d']);
  const { nodes: placed, links: drawn } = layOut({ nodes, links }, 1_000);
  const at = (id: string) => placed.find((one) => one.id === id);
  t.is(at('stages/to/p,b')?.height, (at('to/p,d')?.y ?? 0) + 36 - (at('to/p,b')?.y ?? 0));
  const [through] = drawn.filter(({ from, row }) => from === 'stages/to/p,b' && row === 'to/p,d');
  const y = (at('to/p,d')?.y ?? 0) + 18;
  t.regex(
    through?.path ?? '',
    new RegExp(`^M\\d+ ${y}C.* ${y}$`),
    'a way passes them at the height of its destination',
  );
  t.is(at('to/q')?.state, 'off', 'half a name is no fault yet');
});

test('ways through a node are told from those that share its stage or its client', (t) => {
  const graph = graphOf(
    {
      ...config,
      Router: {
        rules: [{ name: 'own', when: {}, to: 'p,d' }],
        routes: { think: 'p,b', background: 'mix' },
        default: 'q,c',
      },
      Pools: [{ name: 'mix', members: [{ to: 'p,a' }] }],
      transformers: ['maxtoken'],
    },
    [],
    [],
  );
  const related = (id: string) => [...relatedTo(graph, id)].filter((one) => !one.startsWith('client/')).toSorted();
  const shared = graph.nodes.find(({ rows = [] }) => rows.includes('to/p,b'))?.id ?? '';
  t.true(graph.nodes.find(({ id }) => id === shared)?.rows?.includes('to/p,d'), 'one box of stages for both');
  t.deepEqual(related('scenario/think'), ['junction', 'scenario/think', shared, 'to/p,b'].toSorted());
  t.deepEqual(related('to/p,d'), ['junction', 'rule/0', shared, 'to/p,d'].toSorted());
  t.deepEqual(related(shared), ['junction', 'rule/0', 'scenario/think', shared, 'to/p,b', 'to/p,d'].toSorted());
  t.deepEqual(related('member/0/0'), related('scenario/background'), 'a pool and its members are on one way');
  t.true(relatedTo(graph, 'rule/0').has('client/chat'));
});

test('the way of a tried request is its rule, its member of a pool with its stages, and who is asked next', (t) => {
  const graph = graphOf(config, [], []);
  const explained = {
    client: 'chat',
    scenario: 'rule/night',
    provider: 'q',
    model: 'c',
    pool: { name: 'mix' },
    fallbacks: [{ provider: 'p', model: 'a' }],
  } as const;
  const { way, aside } = wayOf(config, graph, explained);
  t.deepEqual([...way], ['client/chat', 'junction', 'rule/0', 'pool/0', 'stages/member/0/1', 'member/0/1']);
  t.deepEqual([...aside], ['stages/member/0/0', 'member/0/0']);
});

test('each field of the routing has its node', (t) => {
  for (const [path, node] of [
    ['Router.rules[2].when.model', 'rule/2'],
    ['Router.module.path', 'module'],
    ['Router.default', 'scenario/default'],
    ['Router.routes.image', 'scenario/image'],
    ['Router.fallback.think[1]', 'scenario/think'],
    ['fallback.think', 'scenario/think'],
    ['Router.background', 'scenario/background'],
    ['Router.longContextThreshold', 'scenario/longContext'],
    ['Pools[1].members[0].to', 'pool/1'],
    ['transformers[3].options', 'stages'],
    ['Router.rules', undefined],
    ['Router', undefined],
  ] as const)
    t.is(nodeOfField(path), node, path);
});
