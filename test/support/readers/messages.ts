import type { Json, JsonObject } from '../../../engine/model/json/json.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';
import { recordsOf } from '../events.ts';
import { type FactCall, type Facts, type FactUsage, must } from '../facts.ts';
import { countOf, listOf, mustKeep, noFacts, objectOf, objectsIn, parsed, textOf, violationsOf } from './check.ts';

const { grammar } = messagesClient;

/** What a streamed answer says. Throws a `GrammarError` if it breaks the protocol's rules, or isn't framed in the plainest way. */
export const readMessagesStream = (stream: string): Facts => {
  must(stream === '' || stream.endsWith('\n\n'), 'the last record has no empty line');
  for (const record of stream.split('\n\n').slice(0, -1)) {
    const [event = '', data = '', ...more] = record.split('\n');
    const isPlain = more.length === 0 && event.startsWith('event: ') && data.startsWith('data: ');
    must(isPlain, `bad record: ${record}`);
  }
  const records = recordsOf(Buffer.from(stream));
  mustKeep(violationsOf(grammar, records));
  const events = objectsIn(records);
  const of = (type: string): readonly JsonObject[] => events.filter((event) => event.type === type);
  const message = objectOf(of('message_start')[0]?.message);
  const [end = {}] = of('message_delta');
  const error = of('error')[0];
  if (Object.keys(message).length === 0) return { ...noFacts, error: error && errorIn(error) };
  const blocks = of('content_block_start').map(({ index, content_block: block }) =>
    wholeBlock(
      objectOf(block),
      of('content_block_delta').filter((delta) => delta.index === index),
    ),
  );
  return {
    ...factsOf(message, blocks),
    stop: textOf(objectOf(end.delta).stop_reason),
    usage: usageIn([message.usage, end.usage]),
    error: error && errorIn(error),
  };
};

/** The same of the body of an answer that isn't streamed, or of an error reply. */
export const readMessagesReply = (body: unknown): Facts => {
  const message = objectOf(JSON.parse(JSON.stringify(body)));
  mustKeep(grammar.reply(message));
  if (message.type === 'error') return { ...noFacts, error: errorIn(message) };
  const { stop_reason: stop } = message;
  const facts = factsOf(message, listOf(message.content).map(objectOf));
  return { ...facts, stop: textOf(stop), usage: usageIn([message.usage]) };
};

/** A block with what its deltas say. */
const wholeBlock = (block: JsonObject, deltas: readonly JsonObject[]): JsonObject => {
  const text = (name: string): string => deltas.map(({ delta }) => textOf(objectOf(delta)[name])).join('');
  const json = text('partial_json');
  return {
    ...block,
    text: textOf(block.text) + text('text'),
    thinking: textOf(block.thinking) + text('thinking'),
    signature: textOf(block.signature) + text('signature'),
    ...(json !== '' && { written: json }),
  };
};

const factsOf = (message: JsonObject, blocks: readonly JsonObject[]): Facts => {
  const text = (type: string): string =>
    blocks.map((block) => (block.type === type ? textOf(block[type]) : '')).join('');
  return {
    ...noFacts,
    text: text('text'),
    reasoning: text('thinking'),
    toolCalls: blocks.filter(({ type }) => type === 'tool_use').map(callOf),
    signatures: blocks.flatMap(({ type, data, signature }) => {
      if (type === 'redacted_thinking') return [textOf(data)];
      return type === 'thinking' ? [textOf(signature)] : [];
    }),
    model: textOf(message.model),
    id: textOf(message.id),
  };
};

const callOf = ({ id, name, input, written }: JsonObject): FactCall => ({
  id: textOf(id),
  name: textOf(name),
  input: typeof written === 'string' ? parsed(written) : input,
});

/** Later counts win, but for null ones. */
const usageIn = (usages: readonly (Json | undefined)[]): FactUsage => {
  const merged: Record<string, Json | undefined> = {};
  for (const [name, value] of usages.flatMap((usage) => Object.entries(objectOf(usage)))) {
    if (value !== null) merged[name] = value;
  }
  const cacheRead = countOf(merged.cache_read_input_tokens);
  const cacheWrite = countOf(merged.cache_creation_input_tokens);
  return {
    prompt: countOf(merged.input_tokens) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: countOf(merged.output_tokens),
    reasoning: countOf(objectOf(merged.output_tokens_details).thinking_tokens),
  };
};

const errorIn = ({ error }: JsonObject): string => textOf(objectOf(error).message);
