import test from 'ava';
import type { SocketReading } from '../../../engine/model/wire/upstream-socket.ts';
import { responsesUpstreamSocket } from '../../../protocols/responses/socket/upstream-socket.ts';

/*
 * What a vendor's messages over WebSocket mean, and what continues an answer: values in, values out.
 */

const user = { role: 'user', content: 'hi' };
const ask = (input: unknown, more: object = {}) =>
  responsesUpstreamSocket.read(JSON.stringify({ model: 'm', stream: true, input, ...more }));

const message = (value: object): Buffer => Buffer.from(JSON.stringify(value));
const created = { type: 'response.created', response: { id: 'resp_1' } };
const limit = { code: 'websocket_connection_limit_reached' };

/** The messages of one answer, and what the last one is. */
const readings: readonly (readonly [
  title: string,
  messages: readonly object[],
  isContinued: boolean,
  last: Partial<SocketReading>,
])[] = [
  ['a notice', [{ type: 'codex.rate_limits' }], false, { type: 'notice', event: 'codex.rate_limits' }],
  ['a long notice', [{ type: 'notice', text: 'x'.repeat(1 << 16) }], false, { type: 'event' }],
  ['the first event', [created], false, { type: 'event', event: 'response.created' }],
  ['a notice in an answer', [created, { type: 'codex.rate_limits' }], false, { type: 'event' }],
  ['a failure', [created, { type: 'response.failed' }], false, { type: 'end', chain: undefined }],
  ['an error in an answer', [created, { type: 'error', status: 400 }], false, { type: 'broken' }],
  ['an error without a status', [{ type: 'error', error: {} }], false, { type: 'broken' }],
  [
    'a refusal',
    [{ type: 'error', status_code: 429, headers: { 'Retry-After': 3 }, error: { code: 'slow' } }],
    false,
    { type: 'refusal', status: 429, headers: { 'retry-after': '3' }, body: '{"error":{"code":"slow"}}' },
  ],
  ['a refusal of the short form', [{ type: 'error', status: 404 }], true, { type: 'again' }],
  ['a refusal of the key, in the short form', [{ type: 'error', status: 401 }], true, { type: 'refusal', status: 401 }],
  ['an old connection', [{ type: 'error', status: 400, error: limit }], false, { type: 'again' }],
  ['no type', [{ kind: 'event' }], false, { type: 'garbled' }],
  ['a type in two lines', [{ type: 'a\nb' }], false, { type: 'garbled' }],
];
for (const [title, messages, isContinued, last] of readings) {
  test(`a message is read: ${title}`, (t) => {
    const reader = ask([user])?.answerReader(isContinued);
    t.like(messages.map((one) => reader?.read(message(one))).at(-1), last);
  });
}

test('line breaks between the tokens of a message become spaces', (t) => {
  const read = ask([user])?.answerReader(false).read(Buffer.from('{\r\n"type":\n"response.created"}'));
  t.is(read && 'data' in read && read.data.toString(), '{  "type": "response.created"}');
});

test('a request that continues an answer is sent without what came before', (t) => {
  const reader = ask([user])?.answerReader(false);
  const item = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content: [] };
  reader?.read(message(created));
  reader?.read(message({ type: 'response.output_item.done', item }));
  const end = reader?.read(message({ type: 'response.completed', response: { id: 'resp_1' } }));
  const chain = end?.type === 'end' ? end.chain : undefined;
  t.like(chain, { responseId: 'resp_1', count: 1, output: [item] });
  if (!chain) return;
  const returned = { role: 'assistant', content: [] };
  const more = { role: 'user', content: 'more' };
  t.deepEqual(JSON.parse(ask([user, returned, more])?.messageAfter(chain) ?? ''), {
    type: 'response.create',
    model: 'm',
    previous_response_id: 'resp_1',
    input: [more],
  });
  t.is(ask([user, returned])?.messageAfter(chain), undefined, 'nothing is new');
  t.is(ask([more, returned, more])?.messageAfter(chain), undefined, 'another beginning');
  t.is(ask([user, returned, more], { model: 'n' })?.messageAfter(chain), undefined, 'another model');
});

test('what HTTP alone can do goes over HTTP', (t) => {
  for (const more of [{ stream: false }, { background: true }, { conversation: 'c' }, { previous_response_id: 'r' }])
    t.is(ask([user], more), undefined, JSON.stringify(more));
  t.is(responsesUpstreamSocket.read('{"model":"m","model":"n","stream":true,"input":[]}'), undefined);
  t.is(ask('hi')?.opening, '');
  t.is(ask([user])?.opening, JSON.stringify(user));
});
