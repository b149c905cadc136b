import type { Json, JsonObject } from '../../../engine/model/json/json.ts';
import { chatClient } from '../../../protocols/chat/index.ts';
import { recordsOf } from '../events.ts';
import { type FactCall, type Facts, type FactUsage, must } from '../facts.ts';
import { countOf, listOf, mustKeep, noFacts, objectOf, objectsIn, parsed, textOf, violationsOf } from './check.ts';

const { grammar } = chatClient;

/** What a stream of chunks says. Throws a `GrammarError` if it breaks the protocol's rules, or isn't framed in the plainest way. */
export const readChatStream = (stream: string): Facts => {
  must(stream === '' || stream.endsWith('\n\n'), 'the last record lacks its empty line');
  for (const record of stream.split('\n\n').slice(0, -1)) {
    const isPlain = record.startsWith(':') || (record.startsWith('data: ') && !record.includes('\n'));
    must(isPlain, `not a single data line: ${record}`);
  }
  const records = recordsOf(Buffer.from(stream));
  mustKeep(violationsOf(grammar, records));
  const chunks = objectsIn(records);
  const choices = chunks.flatMap((chunk) => listOf(chunk.choices).map(objectOf));
  const message = joined(choices.map(({ delta }) => objectOf(delta)));
  const { finish_reason: stop } = choices.find((choice) => choice.finish_reason) ?? {};
  return {
    ...factsOf(message, chunks.find(({ id }) => id) ?? {}),
    stop: textOf(stop),
    usage: usageIn(chunks.find(({ usage }) => usage)?.usage),
    error: errorIn(chunks.find(({ error }) => error)),
  };
};

/** What a whole reply, or an error body, says. Throws a `GrammarError` if it breaks the protocol's rules. */
export const readChatReply = (body: unknown): Facts => {
  const reply = objectOf(JSON.parse(JSON.stringify(body)));
  mustKeep(grammar.reply(reply));
  if (reply.error) return { ...noFacts, error: errorIn(reply) };
  const choice = objectOf(listOf(reply.choices)[0]);
  const { finish_reason: stop } = choice;
  return { ...factsOf(objectOf(choice.message), reply), stop: textOf(stop), usage: usageIn(reply.usage) };
};

/** The message that deltas make. */
const joined = (deltas: readonly JsonObject[]): JsonObject => {
  const text = (name: string): string => deltas.map((delta) => textOf(delta[name])).join('');
  const list = (name: string): readonly Json[] => deltas.flatMap((delta) => listOf(delta[name]));
  const calls = new Map<number, JsonObject[]>();
  for (const fragment of list('tool_calls').map(objectOf)) {
    const index = countOf(fragment.index);
    calls.set(index, [...(calls.get(index) ?? []), fragment]);
  }
  return {
    content: text('content'),
    refusal: text('refusal'),
    reasoning_content: text('reasoning_content'),
    reasoning_details: list('reasoning_details'),
    tool_calls: [...calls.values()].map(wholeCall),
  };
};

const wholeCall = (fragments: readonly JsonObject[]): JsonObject => {
  const [first = {}] = fragments;
  const [kind, member] = bodyOf(first);
  const input = fragments.map((fragment) => textOf(objectOf(fragment[kind])[member])).join('');
  return { ...first, [kind]: { ...objectOf(first[kind]), [member]: input } };
};

const bodyOf = ({ custom }: JsonObject): readonly ['custom', 'input'] | readonly ['function', 'arguments'] =>
  custom === undefined ? ['function', 'arguments'] : ['custom', 'input'];

const factsOf = (message: JsonObject, { id, model }: JsonObject): Facts => ({
  ...noFacts,
  text: textOf(message.content),
  refusal: textOf(message.refusal),
  reasoning: textOf(message.reasoning_content),
  toolCalls: listOf(message.tool_calls).map(objectOf).map(callOf),
  signatures: listOf(message.reasoning_details).flatMap((entry) => payloadOf(objectOf(entry))),
  id: textOf(id),
  model: textOf(model),
});

const callOf = (call: JsonObject): FactCall => {
  const [kind, member] = bodyOf(call);
  const body = objectOf(call[kind]);
  const input = textOf(body[member]);
  return { id: textOf(call.id), name: textOf(body.name), input: kind === 'custom' ? input : parsed(input) };
};

const payloadOf = ({ type, data, signature }: JsonObject): readonly string[] => {
  const payload = type === 'reasoning.encrypted' ? data : signature;
  return typeof payload === 'string' ? [payload] : [];
};

const usageIn = (value: Json | undefined): FactUsage | undefined => {
  if (!value) return undefined;
  const usage = objectOf(value);
  const input = objectOf(usage.prompt_tokens_details);
  return {
    prompt: countOf(usage.prompt_tokens),
    output: countOf(usage.completion_tokens),
    cacheRead: countOf(input.cached_tokens),
    cacheWrite: countOf(input.cache_write_tokens),
    reasoning: countOf(objectOf(usage.completion_tokens_details).reasoning_tokens),
  };
};

const errorIn = (body: JsonObject | undefined): string | undefined => body && textOf(objectOf(body.error).message);
