import test from 'ava';
import type { Scenario } from '../../../engine/config/config.ts';
import type { ModelRequest, Part, Reasoning, Tool, ToolChoice, Turn } from '../../../engine/model/request.ts';
import { rules } from '../../../engine/routing/scenarios.ts';
import { plainRequest } from '../../support/context.ts';

/** Why a request belongs to a scenario. */
const why = (scenario: Scenario, over: Partial<ModelRequest>, tokens = 0): string | undefined =>
  rules[scenario]({ ...plainRequest, ...over }, { tokens, by: 'count', longContext: { threshold: 60_000 } });

test('longContext: more tokens than the threshold', (t) => {
  t.is(why('longContext', {}, 60_000), undefined);
  t.is(why('longContext', {}, 81_230), '81,230 tokens > 60,000');
  const facts = { tokens: 70_000, longContext: { threshold: 60_000 } };
  t.is(rules.longContext(plainRequest, { ...facts, by: 'bound' }), 'at least 70,000 tokens > 60,000');
  t.is(rules.longContext(plainRequest, { ...facts, by: 'estimate' }), 'about 70,000 tokens > 60,000');
});

test('compact: a summary is asked for, or the agent says that it summarizes', (t) => {
  t.is(why('compact', {}), undefined);
  t.is(why('compact', { compaction: { at: 'input' } }), 'a summary of the conversation is asked for');
  const facts = { tokens: 0, by: 'count', longContext: { threshold: 60_000 } } as const;
  t.truthy(rules.compact(plainRequest, { ...facts, requestClass: 'compaction' }));
  t.is(rules.compact(plainRequest, { ...facts, requestClass: 'main' }), undefined);
});

const picture: Part = { type: 'image', source: { kind: 'url', url: 'http://h.example/i.png' } };
const words: Part = { type: 'text', text: 'x' };
const result = (...content: readonly Part[]): Part => ({ type: 'tool-result', id: '1', content });
const user = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
const assistant = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });
const system = (...parts: readonly Part[]): Turn => ({ role: 'system', parts });

const images: readonly (readonly [string, readonly Turn[], boolean])[] = [
  ['in the only turn', [user(words, picture)], true],
  ['in an older turn', [user(picture), assistant(words), user(words)], false],
  ['in the newest of several', [user(words), assistant(words), user(picture)], true],
  ["in a tool's result", [user(words), assistant(words), user(result(words, picture))], true],
  [
    "in an older tool's result",
    [user(words), assistant(words), user(result(picture)), assistant(words), user(words)],
    false,
  ],
  ['in a document', [user({ type: 'document', source: { kind: 'content', parts: [picture] } })], true],
  ['in the neighbour of the newest turn', [assistant(words), user(picture), user(words)], true],
  ['before an instruction', [user(picture), system(words)], true],
  ['before an instruction, then text', [user(picture), system(words), user(words)], true],
  ['before a begun answer', [user(picture), assistant(words)], true],
  ['only in an answer', [user(words), assistant(picture)], false],
  ['no turns', [], false],
];
for (const [title, turns, fits] of images) {
  test(`image: ${title}`, (t) => t.is(why('image', { turns }), fits ? 'the newest user turn has an image' : undefined));
}

const search: Tool = {
  type: 'web-search',
  raw: { wire: 'messages', value: { type: 'web_search_20250305', name: 'web_search' } },
};
const hosted: Tool = { type: 'hosted', wire: 'responses', kind: 'web_search_2025_08_26', raw: {} };
const interpreter: Tool = { type: 'hosted', wire: 'responses', kind: 'code_interpreter', raw: {} };
const own: Tool = { type: 'function', name: 'web_search_mine' };
const only = 'a web search is the only tool';
const forced = 'tool_choice forces a web search';
const named = (name: string): ToolChoice => ({ type: 'tool', name });

const searches: readonly (readonly [string, readonly Tool[], ToolChoice | undefined, string | undefined])[] = [
  ['the only tool', [search], undefined, only],
  ['the only tool, in no wire format we know closely', [hosted], { type: 'auto' }, only],
  ['beside a function', [search, own], undefined, undefined],
  ['beside a function, with any call forced', [search, own], { type: 'required' }, undefined],
  ['beside a function, forced by name', [search, own], named('web_search'), forced],
  ['beside a function that is forced', [search, own], named('web_search_mine'), undefined],
  [
    'beside a function, forced by type',
    [search, own],
    { type: 'opaque', wire: 'responses', value: { type: 'web_search' } },
    forced,
  ],
  [
    'another hosted tool forced by type',
    [search, interpreter],
    { type: 'opaque', wire: 'responses', value: { type: 'code_interpreter' } },
    undefined,
  ],
  ['forbidden to be called', [search], { type: 'none' }, undefined],
  ['a function of a like name', [own], undefined, undefined],
  ['no tools', [], undefined, undefined],
];
for (const [title, tools, toolChoice, expected] of searches) {
  test(`webSearch: ${title}`, (t) => t.is(why('webSearch', { tools, toolChoice }), expected));
}

const models = [
  ['claude-3-5-haiku-20241022', true],
  ['claude-haiku-4-5', true],
  ['anthropic/Claude-HAIKU', true],
  ['claude-sonnet-4-5', false],
] as const;
for (const [model, fits] of models) {
  test(`background: ${model}`, (t) => t.is(why('background', { model }) !== undefined, fits));
}

const thoughts: readonly (readonly [Reasoning | undefined, string | undefined])[] = [
  [undefined, undefined],
  [{ mode: 'on', budget: 10_000 }, 'thinking is on with a budget of 10,000 tokens'],
  [{ mode: 'on' }, undefined],
  [{ mode: 'on', budget: 0 }, undefined],
  [{ mode: 'adaptive' }, undefined],
  [{ mode: 'adaptive', effort: 'medium' }, undefined],
  [{ mode: 'adaptive', effort: 'high' }, 'the effort asked for is high'],
  [{ effort: 'low' }, undefined],
  [{ effort: 'high' }, 'the effort asked for is high'],
  [{ effort: 'xhigh' }, 'the effort asked for is xhigh'],
  [{ effort: 'max' }, 'the effort asked for is max'],
  [{ mode: 'off', effort: 'max' }, undefined],
  [{ mode: 'between-tools' }, undefined],
];
for (const [reasoning, expected] of thoughts) {
  test(`think: ${JSON.stringify(reasoning)}`, (t) => t.is(why('think', { reasoning }), expected));
}
