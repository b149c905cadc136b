import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { geminiUpstream } from '../../../protocols/gemini/index.ts';
import { violationsOf } from '../../support/readers/check.ts';

const { grammar } = geminiUpstream();

const usageMetadata = { promptTokenCount: 2, candidatesTokenCount: 3, thoughtsTokenCount: 4, totalTokenCount: 9 };
const say = (parts: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  usageMetadata,
});
const text = say([{ text: 'a' }]);
const call = (functionCall: JsonObject): JsonObject => say([{ functionCall }]);
const end = say([{ text: '' }], { finishReason: 'STOP' });
const error = { error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED' } };

const cases: readonly (readonly [title: string, records: readonly JsonObject[], rules: readonly string[]])[] = [
  ['text', [text, text, end], []],
  ['a call', [call({ name: 'f', args: {} }), end], []],
  ['a call without arguments', [call({ name: 'f' }), end], []],
  ['a blocked prompt', [{ promptFeedback: { blockReason: 'SAFETY' } }], []],
  ['an error', [text, error], []],
  ['nothing', [], ['end']],
  ['no finish', [text], ['end']],
  ['content behind the finish', [end, text], ['finish-order']],
  ['a record behind an error', [error, text], ['order']],
  ['several candidates', [{ candidates: [{ index: 0, finishReason: 'STOP' }, { index: 1 }] }], ['candidates']],
  ['another role', [say([], { content: { role: 'user' } }), end], ['content']],
  ['two kinds in one part', [say([{ text: 'a', inlineData: {} }]), end], ['content']],
  ['a call without a name', [call({ args: {} }), end], ['call']],
  ['arguments as text', [call({ name: 'f', args: '{}' }), end], ['call']],
  ['an unknown reason', [say([], { finishReason: 'stop' })], ['finish-reason']],
  ['a sum that is wrong', [{ ...end, usageMetadata: { ...usageMetadata, totalTokenCount: 5 } }], ['usage-sum']],
  ['a count that is none', [{ ...end, usageMetadata: { promptTokenCount: '2' } }], ['usage']],
  ['an error without a status', [{ error: { code: 429, message: 'm' } }], ['error']],
];
for (const [title, records, rules] of cases) {
  test(`judges: ${title}`, (t) => {
    const found = violationsOf(
      grammar,
      records.map((data) => ({ event: '', data: JSON.stringify(data) })),
    );
    t.deepEqual(
      found.map(({ rule }) => rule),
      rules,
    );
  });
}

test('judges what is no record, and whole replies', (t) => {
  const rules = (event: string, data: string) => violationsOf(grammar, [{ event, data }]).map(({ rule }) => rule);
  t.deepEqual(rules('x', JSON.stringify(end)), ['framing']);
  t.deepEqual(rules('', '[1]'), ['json', 'end']);
  t.deepEqual(grammar.reply(end), []);
  t.deepEqual(
    grammar.reply(text).map(({ rule }) => rule),
    ['end'],
  );
});
