import test from 'ava';
import fc from 'fast-check';
import type { When } from '../../../../engine/config/rule-schema.ts';
import type { ModelRequest, Part, Tool } from '../../../../engine/model/request.ts';
import { compileCondition, explainCondition, factsIn, holds } from '../../../../engine/routing/rules/condition.ts';
import type { RequestFacts } from '../../../../engine/routing/rules/request-facts.ts';
import { messagesClient } from '../../../../protocols/messages/index.ts';
import { plainRequest } from '../../../support/context.ts';

interface Given extends Partial<Pick<RequestFacts, 'client' | 'sizeRelativeTo'>> {
  readonly path?: string;
  readonly preset?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly at?: string;
  readonly request?: Partial<ModelRequest>;
}

const factsOf = ({ path = '/v1/messages', preset, key, headers = {}, at = '2026-06-01T12:00Z', ...given }: Given) => ({
  client: messagesClient,
  sizeRelativeTo: () => ({ tokens: 0, by: 'count' as const }),
  ...given,
  origin: { path, preset, key },
  header: (name: string) => headers[name],
  atMs: Date.parse(at),
  request: { ...plainRequest, ...given.request },
});

const verdict = (when: When, given: Given) => holds(compileCondition(when), factsOf(given));

const picture: Part = { type: 'image', source: { kind: 'url', url: 'u' } };
const user = (...parts: readonly Part[]) => ({ role: 'user', parts }) as const;
const assistant = { role: 'assistant', parts: [] } as const;
const said: Part = { type: 'tool-result', id: 'c', content: [picture] };
const asks = user({ type: 'text', text: 'do it' });
const called = (at: string) =>
  ({ role: 'assistant', parts: [{ type: 'tool-call', id: 'c', name: 'look_up', input: { at } }] }) as const;
const fine = user({ type: 'tool-result', id: 'c', content: [] });
const failed = user({ type: 'tool-result', id: 'c', content: [], isError: true });
const search: Tool = { type: 'web-search', raw: { wire: 'messages', value: { type: 'web_search_20270101' } } };
const hosted: Tool = { type: 'hosted', wire: 'messages', kind: 'bash_20270101', raw: {} };
const counted = (tokens: number): Given => ({ sizeRelativeTo: () => ({ tokens, by: 'count' }) });
const berlin = { from: '22:00', to: '06:00', zone: 'Europe/Berlin' };
const day = { from: '09:00', to: '17:00', zone: 'UTC' };
const hint = (name: string, value: string): Given => ({ headers: { [`x-claude-code-${name}`]: value } });

const rows: readonly (readonly [title: string, when: When, holds: readonly Given[], not: readonly Given[]])[] = [
  ['client', { client: 'messages' }, [{}], [{ client: { wire: 'chat' } }]],
  ['clients', { client: ['chat', 'responses'] }, [{ client: { wire: 'responses' } }], [{}]],
  ['path', { path: '/v1/*' }, [{}, { path: '/V1/x' }], [{ path: '/chat/completions' }]],
  ['preset', { preset: 'rev*' }, [{ preset: 'review' }], [{}, { preset: 'a-rev' }]],
  ['any preset', { preset: '*' }, [{ preset: 'a' }], [{}]],
  ['key', { key: ['team-*', 'ci'] }, [{ key: 'team-a' }, { key: 'CI' }], [{}, { key: 'ci2' }]],
  [
    'a header',
    { headers: { 'X-Team': 'blue*' } },
    [{ headers: { 'x-team': 'Blue sky' } }],
    [{}, { headers: { 'x-team': 'a blue' } }],
  ],
  ['a header of several', { headers: { a: ['1', '2'] } }, [{ headers: { a: '2' } }], [{ headers: { a: '3' } }]],
  ['a header that is there', { headers: { a: true } }, [{ headers: { a: '' } }], [{}]],
  ['a header that is not', { headers: { a: false } }, [{}], [{ headers: { a: '' } }]],
  ['headers', { headers: { a: true, b: false } }, [{ headers: { a: '1' } }], [{}, { headers: { a: '1', b: '1' } }]],
  [
    'errors of tools',
    { toolErrors: { last: 3, over: 1 } },
    [{ request: { turns: [asks, called('a'), failed, called('b'), failed, called('c'), fine] } }],
    [
      {},
      { request: { turns: [asks, called('a'), failed, called('b'), fine] } },
      { request: { turns: [asks, called('a'), failed, called('b'), failed, called('c'), fine, called('d'), fine] } },
    ],
  ],
  [
    'a repeated call',
    { repeatedCall: true },
    [{ request: { turns: [asks, called('a'), fine, called('b'), fine, called('a'), fine] } }],
    [
      {},
      { request: { turns: [asks, called('a'), fine, called('b'), fine] } },
      { request: { turns: [asks, called('a'), fine, asks, called('a'), fine] } },
    ],
  ],
  [
    'turns since the user spoke',
    { sinceUser: { over: 1 } },
    [{ request: { turns: [asks, called('a'), fine, called('b'), fine] } }],
    [{}, { request: { turns: [asks, called('a'), fine, called('b'), fine, asks] } }],
  ],
  [
    'the last tool',
    { lastTool: 'LOOK*' },
    [{ request: { turns: [asks, called('a'), fine] } }],
    [{}, { request: { turns: [asks] } }],
  ],
  ['model', { model: '*opus*' }, [{ request: { model: ' Big-OPUS-5 ' } }], [{ request: { model: 'opu-s' } }]],
  ['model, in several parts', { model: 'a*b*c' }, [{ request: { model: 'axxbxc' } }], [{ request: { model: 'acb' } }]],
  ['a glob whose parts overlap', { model: 'ab*ba' }, [{ request: { model: 'abba' } }], [{ request: { model: 'aba' } }]],
  [
    'tools',
    { tools: 'mcp__*' },
    [{ request: { tools: [search, { type: 'function', name: 'mcp__read' }] } }],
    [{}, { request: { tools: [{ type: 'function', name: 'read' }] } }],
  ],
  ['a hosted tool', { tools: 'bash*' }, [{ request: { tools: [hosted] } }], [{ request: { tools: [search] } }]],
  ['a web search', { tools: 'web_search' }, [{ request: { tools: [search] } }], [{ request: { tools: [hosted] } }]],
  [
    'images',
    { images: true },
    [{ request: { turns: [user(picture), assistant, user()] } }, { request: { turns: [user(said)] } }],
    [{}],
  ],
  [
    'a web search of a vendor',
    { webSearch: true },
    [{ request: { tools: [search] } }],
    [{ request: { tools: [hosted] } }],
  ],
  [
    'safeguards',
    { safeguards: true },
    [{ request: { extra: { wire: 'messages', at: '', fields: { safeguards: [{ type: 'x' }] } } } }],
    [{}, { request: { extra: { wire: 'messages', at: '', fields: { safeguards: null } } } }],
  ],
  ['no images', { images: false }, [{}], [{ request: { turns: [user(picture)] } }]],
  [
    'reasoning',
    { reasoning: true },
    [
      { request: { reasoning: { mode: 'adaptive' } } },
      { request: { reasoning: { effort: 'low' } } },
      { request: { turns: [{ role: 'system', parts: [], effort: 'low' }] } },
    ],
    [
      {},
      { request: { reasoning: { mode: 'off' } } },
      { request: { reasoning: { effort: 'none' } } },
      { request: { reasoning: {} } },
    ],
  ],
  ['no reasoning', { reasoning: false }, [{}], [{ request: { reasoning: { mode: 'on' } } }]],
  ['tokens over', { tokens: { over: 10 } }, [counted(11)], [counted(10)]],
  ['tokens under', { tokens: { under: 10 } }, [counted(9)], [counted(10)]],
  ['tokens between', { tokens: { over: 10, under: 20 } }, [counted(11), counted(19)], [counted(10), counted(20)]],
  [
    'turns',
    { turns: { over: 1, under: 3 } },
    [{ request: { turns: [user(), user(), assistant, { role: 'system', parts: [] }, user(said)] } }],
    [{ request: { turns: [user(), { role: 'system', parts: [] }, user()] } }],
  ],
  [
    'system',
    { system: ['reviewer', 'auditor'] },
    [
      {
        request: {
          system: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'You are a reviewer.' },
          ],
        },
      },
    ],
    [{}, { request: { system: [{ type: 'text', text: 'Reviewer' }] } }],
  ],
  [
    'time',
    { time: day },
    [{ at: '2026-06-01T09:00Z' }, { at: '2026-06-01T16:59:59Z' }],
    [{ at: '2026-06-01T17:00Z' }, { at: '2026-06-01T08:59Z' }],
  ],
  [
    'time past midnight, in a zone with summer time',
    { time: berlin },
    [{ at: '2026-06-01T20:00Z' }, { at: '2026-06-01T03:59Z' }, { at: '2026-12-01T04:59Z' }],
    [{ at: '2026-06-01T04:00Z' }, { at: '2026-12-01T20:59Z' }],
  ],
  ['time of a whole day', { time: { from: '09:00', to: '09:00' } }, [{ at: '2026-06-01T10:00Z' }], []],
  [
    'requestClass',
    { requestClass: ['sub*', 'auxiliary'] },
    [hint('request-class', 'subagent'), hint('request-class', 'auxiliary')],
    [{}, hint('request-class', 'main'), { ...hint('request-class', 'subagent'), client: { wire: 'chat' } }],
  ],
  ['agentType', { agentType: 'Explore' }, [hint('agent-type', 'explore')], [{}, hint('agent-type', 'Plan')]],
  ['compaction', { compaction: '*' }, [hint('compaction', 'auto')], [{}]],
  ['two facts', { client: 'messages', key: 'a' }, [{ key: 'a' }], [{}, { key: 'a', client: { wire: 'chat' } }]],
  ['all', { all: [{ client: 'messages' }, { key: 'a' }] }, [{ key: 'a' }], [{}]],
  ['any', { any: [{ client: 'chat' }, { key: 'a' }] }, [{ key: 'a' }, { client: { wire: 'chat' } }], [{}]],
  [
    'not',
    { not: { client: 'chat', key: 'a' } },
    [{ key: 'a' }, { client: { wire: 'chat' } }],
    [{ key: 'a', client: { wire: 'chat' } }],
  ],
  ['nothing', {}, [{}], []],
];
for (const [title, when, matching, others] of rows) {
  test(`a condition on ${title}`, (t) => {
    for (const given of matching) t.is(verdict(when, given), true, JSON.stringify(given));
    for (const given of others) t.is(verdict(when, given), false, JSON.stringify(given));
  });
}

test('what a count could change stays open, and nothing else', (t) => {
  const open: Given = { sizeRelativeTo: () => undefined };
  const tokens: When = { tokens: { over: 1 } };
  t.is(verdict(tokens, open), undefined);
  t.is(verdict({ not: tokens }, open), undefined);
  t.is(verdict({ all: [tokens, { client: 'chat' }] }, open), false);
  t.is(verdict({ any: [tokens, { client: 'messages' }] }, open), true);
  t.is(verdict({ any: [tokens, { client: 'chat' }] }, open), undefined);
});

/** Conditions over the headers `a`, `b` and `c`, and their truth by the letters that are there. */
const { tree } = fc.letrec<{ tree: { when: When; truth: (set: ReadonlySet<string>) => boolean } }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom('a', 'b', 'c').map((name) => ({
      when: { headers: { [name]: true } },
      truth: (set: ReadonlySet<string>) => set.has(name),
    })),
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((list) => ({
      when: { all: list.map(({ when }) => when) },
      truth: (set: ReadonlySet<string>) => list.every(({ truth }) => truth(set)),
    })),
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((list) => ({
      when: { any: list.map(({ when }) => when) },
      truth: (set: ReadonlySet<string>) => list.some(({ truth }) => truth(set)),
    })),
    tie('tree').map(({ when, truth }) => ({ when: { not: when }, truth: (set: ReadonlySet<string>) => !truth(set) })),
    fc.tuple(tie('tree'), tie('tree')).map(([one, other]) => ({
      when: { any: [one.when], not: other.when },
      truth: (set: ReadonlySet<string>) => one.truth(set) && !other.truth(set),
    })),
  ),
}));

test('all, any and not obey the laws of logic', (t) => {
  fc.assert(
    fc.property(tree, fc.subarray(['a', 'b', 'c']), ({ when, truth }, present) => {
      const headers = Object.fromEntries(present.map((name) => [name, '1']));
      t.is(verdict(when, { headers }), truth(new Set(present)), JSON.stringify(when));
    }),
    { numRuns: 500 },
  );
});

const long = 'x'.repeat(101);
const reasons: readonly (readonly [when: When, why: string])[] = [
  [{}, ''],
  [{ client: 'messages' }, 'client is messages'],
  [{ client: ['messages', 'chat'], path: ['/v1/*', 'x'] }, 'client is messages or chat, path is /v1/* or x'],
  [{ headers: { A: true, B: false, c: '1*' } }, 'header a is present, header b is absent, header c is 1*'],
  [{ images: false, reasoning: false }, 'no image, no reasoning asked for'],
  [{ not: { images: true, reasoning: true } }, 'not (an image, reasoning asked for)'],
  [{ not: { any: [{ images: true }, { not: {} }] } }, 'not (an image or not (any request))'],
  [{ any: [{ images: true }, { tokens: { under: 60_000 } }] }, 'tokens < 60,000'],
  [{ tokens: { over: -1, under: 2 } }, 'tokens > -1, tokens < 2'],
  [{ system: ['y', long] }, `system prompt has "y" or "${'x'.repeat(100)}…"`],
  [{ system: 'x'.repeat(100) }, `system prompt has "${'x'.repeat(100)}"`],
  [{ time: day }, 'time is 09:00 to 17:00 in UTC'],
  [{ time: { from: '00:00', to: '23:59' } }, 'time is 00:00 to 23:59'],
];

test('why a condition holds, and what it asks for', (t) => {
  const facts = factsOf({ headers: { a: '', c: '12' } });
  for (const [when, why] of reasons) t.is(explainCondition(compileCondition(when), facts), why);
  const [tools] = factsIn(compileCondition({ tools: 'a*' }));
  t.like(tools, { at: 'tools', label: 'a tool is a*' });
  const all = { all: [{ model: 'a' }], any: [{ not: { headers: { B: '1' } } }, { turns: { over: 1, under: 5 } }] };
  t.deepEqual(
    factsIn(compileCondition(all, 'when')).map(({ at, label }) => `${at}: ${label}`),
    [
      'when.all[0].model: model is a',
      'when.any[0].not.headers.B: header b is 1',
      'when.any[1].turns.over: turns > 1',
      'when.any[1].turns.under: turns < 5',
    ],
  );
});
