import test from 'ava';
import Type from 'typebox';
import type { Config, Provider, TransformerEntry } from '../../../../engine/config/config.ts';
import type { LoadedStage } from '../../../../engine/config/custom/load-stages.ts';
import type { OpenStage } from '../../../../engine/config/custom/transformer.ts';
import { validateConfig } from '../../../../engine/config/validate.ts';
import type { ModelEvent } from '../../../../engine/model/event.ts';
import { machine } from '../../../../engine/model/machine.ts';
import { transformer } from '../../../../engine/model/transformer.ts';
import { eventStagesOf, requestStagesOf } from '../../../../engine/routing/plan/build-graph.ts';
import type { TransformerRegistry } from '../../../../engine/routing/plan/choose-format.ts';
import { compilePlan, showPlan } from '../../../../engine/routing/plan/plan.ts';
import { clientProtocols } from '../../../../protocols/index.ts';
import { defaultFormat, formats } from '../../../../transformers/index.ts';

const same = machine({
  initial: () => ({}),
  step: (_: object, event: ModelEvent, out: ModelEvent[]) => void out.push(event),
});
const options = Type.Object({ secret: Type.Optional(Type.String()) });

const stages = [
  transformer({ name: 'ask', options, request: (request) => request }),
  transformer({ name: 'answer', options, events: () => same }),
  transformer({ name: 'both', options, request: (request) => request, events: () => same }),
];

const custom: Readonly<Record<string, OpenStage>> = {
  'ask-op.ts': { name: 'ask-op', operators: { request: (source) => source } },
  'answer-op.ts': { name: 'answer-op', operators: { events: (source) => source } },
};

const registry = (entries: readonly TransformerEntry[]): TransformerRegistry => ({
  formats,
  stages: new Map(stages.map((stage) => [stage.name, stage])),
  defaultFormat,
  custom: new Map(
    entries.flatMap(({ at, path }): [string, LoadedStage][] => {
      if (path === undefined) return [];
      const stage = custom[path];
      const problem = '/home/somebody/x.ts is broken';
      return [
        [at, stage ? { file: path, stage } : { file: path, problem, findings: [{ path: at, message: problem }] }],
      ];
    }),
  ),
});

const configOf = (transformers: readonly unknown[], baseUrl: string): Config => {
  const provider = { name: 'p', baseUrl, apiKey: 'k', models: ['m'] };
  const result = validateConfig(
    JSON.parse(JSON.stringify({ Providers: [provider, { ...provider, name: 'q' }], transformers })),
    {},
  );
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return result.config;
};

const lineOf = (
  transformers: readonly unknown[],
  { client: wire = 'chat', model = 'm', baseUrl = 'http://h.example/v1' } = {},
) => {
  const config = configOf(transformers, baseUrl);
  const client = clientProtocols.find(({ protocol }) => protocol.wire === wire)?.protocol;
  const provider: Provider | undefined = config.providers[0];
  if (!client || !provider) throw new Error('not set up');
  return compilePlan(config, registry(config.transformers), { client, provider, model });
};

const stagesOf = (line: ReturnType<typeof lineOf>): string =>
  [requestStagesOf(line.graph), eventStagesOf(line.graph)]
    .map((nodes) => nodes.map(({ name }) => name).join(' '))
    .join(' | ');

const orders: readonly (readonly [title: string, entries: readonly unknown[], stages: string])[] = [
  ['nothing', [], ' | '],
  ['list order there, reverse order back', ['both', 'ask', 'answer'], 'both ask | answer both'],
  ['the same stage twice', ['both', 'both'], 'both both | both both'],
  [
    'only those of the provider',
    ['ask', { name: 'both', provider: 'q' }, { name: 'answer', provider: 'p' }],
    'ask | answer',
  ],
  [
    'only those of the model',
    [
      { name: 'ask', models: ['n'] },
      { name: 'both', models: ['n', 'm'] },
    ],
    'both | both',
  ],
  [
    'provider and model',
    [
      { name: 'ask', provider: 'p', models: ['n'] },
      { name: 'answer', provider: 'p', models: ['m'] },
    ],
    ' | answer',
  ],
  ['a format is no stage', ['ask', 'anthropic', 'both'], 'ask both | both'],
  [
    'custom ones at their place',
    ['ask', { path: 'answer-op.ts' }, { path: 'ask-op.ts' }, 'both'],
    'ask ask-op both | both answer-op',
  ],
  ['a module with the name of a format is a stage', [{ name: 'anthropic', path: 'ask-op.ts' }], 'ask-op | '],
];

for (const [title, entries, expected] of orders) {
  test(`order: ${title}`, (t) => t.is(stagesOf(lineOf(entries)), expected));
}

const choices: readonly (readonly [title: string, entries: readonly unknown[], baseUrl: string, chosen: string])[] = [
  ['nothing says anything', [], 'http://h.example', 'openai plain'],
  ['the host', [], 'https://api.anthropic.com', 'anthropic host'],
  ['a host below the host', [], 'https://eu.api.groq.com/openai/v1', 'groq host'],
  ['a host that only ends alike', [], 'https://notapi.groq.com', 'openai plain'],
  ['an entry beats the host', ['deepseek'], 'https://api.anthropic.com', 'deepseek entry transformers[0]'],
  ['provider beats global', [{ name: 'groq', provider: 'p' }, 'deepseek'], 'http://h', 'groq entry transformers[0]'],
  [
    'models beat provider',
    [
      { name: 'groq', models: ['m'] },
      { name: 'deepseek', provider: 'p' },
    ],
    'http://h',
    'groq entry transformers[0]',
  ],
  [
    'both beat one',
    [
      { name: 'groq', provider: 'p', models: ['m'] },
      { name: 'deepseek', provider: 'p' },
    ],
    'http://h',
    'groq entry transformers[0]',
  ],
  ['the last of equals', ['groq', 'deepseek'], 'http://h', 'deepseek entry transformers[1]'],
  ["another provider's doesn't count", [{ name: 'groq', provider: 'q' }], 'http://h', 'openai plain'],
];

for (const [title, entries, baseUrl, chosen] of choices) {
  test(`format: ${title}`, (t) => {
    const { choice } = lineOf(entries, { baseUrl });
    t.is([choice.format.name, choice.because, choice.entry].filter((word) => word !== undefined).join(' '), chosen);
  });
}

const passages: readonly (readonly [entries: readonly unknown[], client: string, request: boolean, reply: boolean])[] =
  [
    [[], 'chat', true, true],
    [[], 'messages', false, false],
    [['anthropic'], 'messages', true, true],
    [['anthropic'], 'responses', false, false],
    [['ask'], 'chat', false, true],
    [['answer'], 'chat', true, false],
    [['both'], 'chat', false, false],
    [[{ path: 'ask-op.ts' }], 'chat', false, true],
    [[{ path: 'answer-op.ts' }], 'chat', true, false],
    [[{ name: 'both', models: ['n'] }], 'chat', true, true],
  ];

for (const [entries, client, request, reply] of passages) {
  test(`pass-through: ${client}, ${JSON.stringify(entries)}`, (t) => {
    const { graph } = lineOf(entries, { client });
    t.deepEqual([graph.requestRelay.open, graph.replyRelay.open], [request, reply]);
  });
}

const graphs = [...orders.map(([, entries]) => entries), [{ name: 'anthropic' }]];

for (const entries of graphs) {
  for (const client of ['messages', 'chat', 'responses']) {
    test(`graph: ${client}, ${JSON.stringify(entries)} holds together`, (t) => {
      const { graph } = lineOf(entries, { client });
      const byId = new Map(graph.nodes.map((node) => [node.id, node]));
      t.is(byId.size, graph.nodes.length, 'ids are unique');
      for (const { from, to, carries } of graph.edges) {
        t.is(byId.get(from)?.gives, carries, `${from} → ${to}`);
        t.is(byId.get(to)?.takes, carries, `${from} → ${to}`);
      }
      // Every node can be reached from the client, and the client from every node.
      const reached = (start: string, ends: 'from' | 'to'): ReadonlySet<string> => {
        const seen = new Set([start]);
        for (const id of seen)
          for (const edge of graph.edges) if (edge[ends === 'to' ? 'from' : 'to'] === id) seen.add(edge[ends]);
        return seen;
      };
      t.is(reached('client', 'to').size, byId.size);
      t.is(reached('client', 'from').size, byId.size);
    });
  }
}

/** A plan's nodes as `id name takes→gives {about}` and edges as `from→to carries when`. */
const shape = (entries: readonly unknown[], client: string): readonly string[] => {
  const { nodes, edges } = showPlan(lineOf(entries, { client }), []);
  return [
    ...nodes.map(({ id, step: _, name, takes, gives, ...about }) => {
      const known = Object.entries(about).filter(([, value]) => value !== undefined);
      const words = known.map(([member, value]) => `${member}=${value}`);
      return [id, name, `${takes}→${gives}`, ...words].join(' ');
    }),
    ...edges.map(({ from, to, carries, when }) => [`${from}→${to}`, carries, ...(when ? [when] : [])].join(' ')),
  ];
};
/** What any plan of the provider has. */
const steps = (client: string): readonly string[] => [
  `client ${client} text→bytes`,
  `decode-request ${client} bytes→request`,
  'route p request→request',
  'encode-request openai request→bytes because=plain',
  'call-upstream p bytes→bytes url=http://h.example/v1/chat/completions',
  'read-records sse bytes→records',
  'decode-stream openai records→events',
  'decode-reply openai bytes→events',
  `encode-stream ${client} events→text`,
  `encode-reply ${client} events→text`,
  'client→decode-request bytes',
  'decode-request→route request',
  'encode-request→call-upstream bytes',
  'call-upstream→read-records bytes streamed',
  'read-records→decode-stream records',
  'call-upstream→decode-reply bytes whole',
  'encode-stream→client text',
  'encode-reply→client text',
];

test('the nodes and edges of a plan that converts through stages', (t) => {
  const entries = [{ name: 'both', options: { secret: 's' } }, { path: 'ask-op.ts' }, 'answer'];
  const expected = [
    ...steps('messages'),
    'stage-request:transformers[0] both request→request form=function entry=transformers[0] options=secret',
    'stage-request:transformers[1] ask-op request→request form=operator entry=transformers[1] options= path=ask-op.ts',
    'stage-events:transformers[2] answer events→events form=machine entry=transformers[2] options=',
    'stage-events:transformers[0] both events→events form=machine entry=transformers[0] options=secret',
    'route→stage-request:transformers[0] request',
    'stage-request:transformers[0]→stage-request:transformers[1] request',
    'stage-request:transformers[1]→encode-request request',
    'decode-stream→stage-events:transformers[2] events',
    'decode-reply→stage-events:transformers[2] events',
    'stage-events:transformers[2]→stage-events:transformers[0] events',
    'stage-events:transformers[0]→encode-stream events streamed',
    'stage-events:transformers[0]→encode-reply events whole',
  ];
  t.deepEqual([...shape(entries, 'messages')].sort(), expected.sort());
});

test('the nodes and edges of a plan that is relayed', (t) => {
  const expected = [
    ...steps('chat'),
    'forward-request chat bytes→bytes but=model,credentials',
    'relay-reply chat bytes→text',
    'route→encode-request request converted',
    'client→forward-request bytes as-it-came',
    'forward-request→call-upstream bytes',
    'decode-stream→encode-stream events streamed',
    'decode-stream→encode-reply events whole',
    'decode-reply→encode-stream events streamed',
    'decode-reply→encode-reply events whole',
    'call-upstream→relay-reply bytes as-it-came',
    'relay-reply→client text',
  ];
  t.deepEqual([...shape([], 'chat')].sort(), expected.sort());
});

test('what is shown is plain JSON, and holds no secret', (t) => {
  const line = lineOf([{ name: 'both', options: { secret: 'hush' } }], {
    baseUrl: 'http://h.example/v1?key=hush',
  });
  const shown = showPlan(line, ['default']);
  const text = JSON.stringify(shown);
  t.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(shown)));
  t.notRegex(text, /hush|user/);
  t.regex(text, /"options":\["secret"\]/);
  t.regex(text, /http:\/\/h\.example\/v1\/chat\/completions/);
});

const faults: readonly (readonly [entries: readonly unknown[], message: RegExp])[] = [
  [['nonesuch'], /^Transformer "nonesuch" can't be used: no transformer of the name "nonesuch" is loaded\.$/],
  [[{ name: 'both', options: { secret: 5 } }], /^Transformer "both" can't be used: options\.secret must be string\.$/],
  [[{ path: 'broken.ts' }], /^Transformer "broken" can't be used: its module is not loaded; app\.log says why\.$/],
  [[{ name: 'mine', path: 'broken.ts' }], /^Transformer "mine" can't be used/],
];

for (const [entries, message] of faults) {
  test(`fault: ${JSON.stringify(entries)}`, (t) => {
    const { fault } = lineOf(entries);
    t.is(fault?.kind, 'stage-failed');
    t.regex(fault?.message ?? '', message);
    t.is(
      lineOf([
        ...entries.map((entry) => ({ ...Object(typeof entry === 'string' ? { name: entry } : entry), models: ['n'] })),
      ]).fault,
      undefined,
    );
  });
}
