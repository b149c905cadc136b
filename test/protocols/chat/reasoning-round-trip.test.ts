import test from 'ava';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { isJsonObject, type JsonDraft, type JsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { foldReply, isFault } from '../../../engine/model/reply.ts';
import { sseText } from '../../../engine/model/wire/sse.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { chatClient, chatUpstream, plainDialect } from '../../../protocols/chat/index.ts';
import { replyContext } from '../../support/context.ts';

const upstream = chatUpstream({
  ...plainDialect,
  reasoningHistory: { field: 'reasoning_details', on: 'all', required: false },
});

const entries: readonly JsonObject[] = [
  { type: 'reasoning.text', text: 'one ', format: 'f-v1', index: 0, signature: 'Sig/+=1' },
  { type: 'reasoning.summary', summary: 'two', format: 'g-v1', index: 1, id: 'rs_1' },
  { type: 'reasoning.encrypted', data: 'gAAA_-=', format: 'g-v1', index: 2, id: 'rs_2' },
];
const tool_calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }];
const body: JsonObject = {
  id: 'gen-1',
  model: 'm',
  choices: [
    {
      index: 0,
      message: { content: 'a', reasoning: 'one two', reasoning_details: entries, tool_calls },
      finish_reason: 'tool_calls',
    },
  ],
};

/** What a client that gathers deltas as they come has in the end. */
const gather = (stream: string): JsonObject => {
  const message: JsonDraft = { role: 'assistant' };
  for (const record of stream.split('\n\n')) {
    const chunk = parseJson(record.replace('data: ', ''));
    const choice = isJsonObject(chunk) && Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isJsonObject(choice) || !isJsonObject(choice.delta)) continue;
    for (const [name, value] of Object.entries(choice.delta)) {
      const there = message[name];
      if (name === 'role') continue;
      if (name === 'tool_calls') message.tool_calls = tool_calls;
      else if (Array.isArray(value)) message[name] = [...(Array.isArray(there) ? there : []), ...value];
      else message[name] = `${there ?? ''}${value}`;
    }
  }
  return message;
};

const sendBack = (message: JsonObject) => {
  const losses = new Losses('test');
  const request = chatClient.decodeRequest({
    model: 'm',
    messages: [{ role: 'user', content: 'q' }, message, { role: 'tool', tool_call_id: 'c', content: 'r' }],
  });
  const encoded = upstream.encodeRequest(request, { names: new ToolNames(), losses, replyIsRelayed: false });
  const sent = Array.isArray(encoded.messages) ? encoded.messages[1] : undefined;
  return { sent: isJsonObject(sent) ? sent : {}, losses: losses.list };
};

/** Entries with their members in one order. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map((entry) => Object.fromEntries(Object.entries(entry).sort(([a], [b]) => a.localeCompare(b))))
    : value;

const events: ModelEvent[] = upstream.decodeReply(body, replyContext());

test('a stream sent back completely restores every entry', (t) => {
  const { sent, losses } = sendBack(gather(sseText(runWhole(chatClient.encodeStream, replyContext(), events))));
  t.deepEqual(sorted(sent.reasoning_details), sorted(entries));
  t.is(sent.content, 'a');
  t.deepEqual(losses, []);
});

test('so does a whole reply', (t) => {
  const reply = foldReply(events);
  if (isFault(reply)) return t.fail(reply.message);
  const encoded = chatClient.encodeReply(reply, replyContext());
  const choice = Array.isArray(encoded.choices) ? encoded.choices[0] : undefined;
  const message = isJsonObject(choice) && isJsonObject(choice.message) ? choice.message : {};
  const { sent, losses } = sendBack(message);
  t.deepEqual(sorted(sent.reasoning_details), sorted(entries));
  t.deepEqual(losses, []);
});

test('a foreign payload survives the client and stays out of this wire', (t) => {
  const signature = { format: 'messages', data: 'Abc+/=' };
  const foreign: ModelEvent[] = [
    { type: 'message-start', id: '', model: 'm' },
    { type: 'block-start', index: 0, block: { type: 'thinking' } },
    { type: 'thinking-delta', index: 0, text: 'x' },
    { type: 'signature-delta', index: 0, signature },
    { type: 'block-stop', index: 0 },
    { type: 'block-start', index: 1, block: { type: 'tool-call', id: 'c', name: 'f', signature } },
    { type: 'block-stop', index: 1 },
    { type: 'message-stop', finish: 'tool-call', usage: {} },
  ];
  const message = gather(sseText(runWhole(chatClient.encodeStream, replyContext(), foreign)));
  const { turns } = chatClient.decodeRequest({ model: 'm', messages: [message] });
  t.like(turns[0]?.parts, {
    0: { type: 'thinking', text: 'x', signature },
    1: { type: 'tool-call', id: 'c', signature },
    length: 2,
  });
  const { sent, losses } = sendBack(message);
  t.is(sent.reasoning_details, undefined);
  t.is(losses.length, 2);
});
