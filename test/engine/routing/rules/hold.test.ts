import test from 'ava';
import type { ModelRequest, Turn } from '../../../../engine/model/request.ts';
import { trajectories, trajectory } from '../../../../engine/model/trajectory.ts';
import { compileRules, explainRules, matchRules } from '../../../../engine/routing/rules/rules.ts';
import { messagesClient } from '../../../../protocols/messages/index.ts';
import { plainRequest } from '../../../support/context.ts';
import { configOf } from '../../../support/gateway-of.ts';

const asks: Turn = { role: 'user', parts: [{ type: 'text', text: 'do it' }] };
const called = (at: string): Turn => ({
  role: 'assistant',
  parts: [{ type: 'tool-call', id: 'c', name: 'look', input: { at } }],
});
const result = (isError: boolean): Turn => ({
  role: 'user',
  parts: [{ type: 'tool-result', id: 'c', content: [], isError }],
});
const fine = result(false);
const failed = result(true);

const config = configOf({
  Providers: [{ name: 'p', baseUrl: 'http://h.example', apiKey: 'k', models: ['big', 'small'] }],
  Router: {
    default: 'p,small',
    rules: [{ name: 'rescue', when: { toolErrors: { last: 2, over: 1 } }, hold: 'turn', to: 'p,big' }],
  },
});
const rules = compileRules(config) ?? [];

const factsOf = (turns: ModelRequest['turns']) => ({
  client: messagesClient,
  origin: { path: '/v1/messages', preset: undefined, key: undefined },
  header: () => undefined,
  request: { ...plainRequest, turns },
  atMs: 0,
  sizeRelativeTo: () => ({ tokens: 0, by: 'count' as const }),
});

const rows: readonly (readonly [title: string, turns: readonly Turn[], holds: boolean])[] = [
  ['before', [asks, called('a'), failed], false],
  ['while it holds', [asks, called('a'), failed, called('b'), failed], true],
  ['after it held', [asks, called('a'), failed, called('b'), failed, called('c'), fine, called('d'), fine], true],
  [
    'once the user spoke',
    [asks, called('a'), failed, called('b'), failed, called('c'), fine, called('d'), fine, asks],
    false,
  ],
  [
    'in the next turn',
    [asks, called('a'), failed, called('b'), failed, called('c'), fine, asks, called('d'), fine],
    false,
  ],
];

for (const [title, turns, expected] of rows) {
  test(`a rule that holds for a turn: ${title}`, (t) => {
    const route = matchRules(rules, factsOf(turns), config)?.route;
    t.is(route?.model, expected ? 'big' : undefined);
    t.is(explainRules(rules, factsOf(turns))[0]?.matches, expected);
    if (title === 'after it held') t.regex(route?.reason ?? '', /errors among the last 2 .*, earlier in this turn/);
  });
}

test('a trajectory is computed in one pass, however long the conversation is', (t) => {
  const steps = Array.from({ length: 20_000 }, (_, index) => [called(String(index % 7)), index % 2 ? fine : failed]);
  const turns = [asks, ...steps.flat()];
  const before = process.cpuUsage();
  const all = trajectories({ turns });
  t.true(process.cpuUsage(before).user < 2_000_000);
  t.is(all.length, 20_001);
  t.like(trajectory({ turns }), { lastTool: 'look', sinceUser: 20_000, repeats: Math.ceil(20_000 / 7) });
  t.is(trajectory({ turns }).toolErrors(3), 1);
});
