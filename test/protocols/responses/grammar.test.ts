import test from 'ava';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { sseText } from '../../../engine/model/wire/sse.ts';
import { encodeStream } from '../../../protocols/responses/encode-reply/encode-stream.ts';
import { replyContext } from '../../support/context.ts';
import { recordsOf } from '../../support/events.ts';
import { GrammarError } from '../../support/facts.ts';
import { readResponsesReply, readResponsesStream } from '../../support/readers/responses.ts';

const events: ModelEvent[] = [
  { type: 'message-start', id: '', model: 'm' },
  { type: 'block-start', index: 0, block: { type: 'thinking' } },
  { type: 'thinking-delta', index: 0, text: 'hm' },
  { type: 'block-stop', index: 0 },
  { type: 'block-start', index: 1, block: { type: 'text' } },
  { type: 'text-delta', index: 1, text: 'ab' },
  { type: 'text-delta', index: 1, text: 'cd' },
  { type: 'block-stop', index: 1 },
  { type: 'block-start', index: 2, block: { type: 'tool-call', id: 'c1', name: 'f' } },
  { type: 'input-delta', index: 2, json: '{}' },
  { type: 'block-stop', index: 2 },
  { type: 'message-stop', finish: 'tool-call', usage: { input: 1, output: 1 } },
];

type Members = Record<string, unknown>;

const sound = (): Members[] =>
  recordsOf(Buffer.from(sseText(runWhole(encodeStream, replyContext(), events)))).map(({ data }) => JSON.parse(data));

const write = (records: readonly Members[]): string =>
  records.map((record) => `event: ${record.type}\ndata: ${JSON.stringify(record)}\n\n`).join('');

/** Numbers the events anew, so that a test breaks one rule and not that of the numbers as well. */
const number = (records: readonly Members[]): Members[] =>
  records.map((record, index) => ({ ...record, sequence_number: index }));

const at = (records: readonly Members[], type: string): number => records.findIndex((record) => record.type === type);

const without = (type: string) => (records: Members[]) => number(records.filter((record) => record.type !== type));
const changed = (type: string, more: Members) => (records: Members[]) =>
  records.map((record, index) => (index === at(records, type) ? { ...record, ...more } : record));
const twice = (type: string) => (records: Members[]) =>
  number(records.flatMap((record) => (record.type === type ? [record, record] : [record])));

test('a sound stream passes', (t) => {
  t.like(readResponsesStream(write(sound())), { text: 'abcd', reasoning: 'hm', stop: 'completed' });
});

const broken: readonly (readonly [string, (records: Members[]) => Members[]])[] = [
  ['no created', without('response.created')],
  ['no in_progress', without('response.in_progress')],
  ['no end', without('response.completed')],
  ['two ends', twice('response.completed')],
  ['a gap in the numbers', changed('response.output_text.delta', { sequence_number: 99 })],
  ['an unknown event', (records) => number([...records.slice(0, 2), { type: 'response.ping' }, ...records.slice(2)])],
  ['an error member', changed('response.output_text.delta', { error: { message: 'x' } })],
  ['an item that was not added', without('response.output_item.added')],
  ['an item added out of order', changed('response.output_item.added', { output_index: 1 })],
  [
    'an item added with content',
    (records) => {
      const place = records.findLastIndex((record) => record.type === 'response.output_item.added');
      return records.map((record, index) =>
        index === place
          ? {
              ...record,
              item: {
                id: 'fc_9',
                type: 'function_call',
                status: 'in_progress',
                call_id: 'c1',
                name: 'f',
                arguments: '{}',
              },
            }
          : record,
      );
    },
  ],
  ['no part', without('response.content_part.added')],
  ['no summary part', without('response.reasoning_summary_part.added')],
  ['another item id', changed('response.output_text.delta', { item_id: 'msg_other' })],
  ['an empty delta', changed('response.output_text.delta', { delta: '' })],
  ['a delta too many', twice('response.output_text.delta')],
  ['a text that differs from its deltas', changed('response.output_text.done', { text: 'ab' })],
  [
    'arguments that differ from their deltas',
    changed('response.function_call_arguments.done', { arguments: '{"a":1}' }),
  ],
  ['no done text', without('response.output_text.done')],
  ['no done part', without('response.content_part.done')],
  ['no done arguments', without('response.function_call_arguments.done')],
  ['no done items', without('response.output_item.done')],
  [
    'a done item that differs',
    changed('response.output_item.done', { item: { id: 'rs_0', type: 'reasoning', summary: [] } }),
  ],
  [
    'a last output that differs',
    (records) => {
      const last = records.at(-1);
      const response = typeof last?.response === 'object' ? last.response : {};
      return [...records.slice(0, -1), { ...last, response: { ...response, output: [] } }];
    },
  ],
];

for (const [title, breakIt] of broken) {
  test(`found: ${title}`, (t) => {
    t.throws(() => readResponsesStream(write(breakIt(sound()))), { instanceOf: GrammarError });
  });
}

test('found: an event line that differs from its type', (t) => {
  const text = write(sound()).replace('event: response.completed', 'event: response.done');
  t.throws(() => readResponsesStream(text), { instanceOf: GrammarError });
});

test('found: a reply with a member that is not on the wire, or one that is missing', (t) => {
  const body = sound().at(-1)?.response;
  t.is(readResponsesReply(body).text, 'abcd');
  const members = typeof body === 'object' ? { ...body } : {};
  t.throws(() => readResponsesReply({ ...members, output_text: '' }), { instanceOf: GrammarError });
  t.throws(() => readResponsesReply({ ...members, usage: undefined, id: 5 }), { instanceOf: GrammarError });
  t.throws(() => readResponsesReply({ ...members, status: 'queued' }), { instanceOf: GrammarError });
});
