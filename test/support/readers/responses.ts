import type { Json, JsonObject } from '../../../engine/model/json/json.ts';
import { responsesClient } from '../../../protocols/responses/index.ts';
import { recordsOf } from '../events.ts';
import type { FactCall, Facts, FactUsage } from '../facts.ts';
import { countOf, listOf, mustKeep, objectOf, objectsIn, parsed, textOf, violationsOf } from './check.ts';

const { grammar } = responsesClient;

/** What a stream says. Throws a `GrammarError` if it breaks the protocol's rules. */
export const readResponsesStream = (text: string): Facts => {
  const records = recordsOf(Buffer.from(text));
  mustKeep(violationsOf(grammar, records));
  return factsOf(objectOf(objectsIn(records).at(-1)?.response));
};

/** The same of a whole response. */
export const readResponsesReply = (body: unknown): Facts => {
  const response = objectOf(JSON.parse(JSON.stringify(body)));
  mustKeep(grammar.reply(response));
  return factsOf(response);
};

const factsOf = (response: JsonObject): Facts => {
  const items = listOf(response.output).map(objectOf);
  const parts = items.filter(({ type }) => type === 'message').flatMap(({ content }) => listOf(content).map(objectOf));
  const reasoning = items.filter(({ type }) => type === 'reasoning');
  const thoughts = reasoning.flatMap(({ summary, content }) => [...listOf(summary), ...listOf(content)].map(objectOf));
  const why = objectOf(response.incomplete_details ?? undefined);
  return {
    text: parts.map(({ type, text }) => (type === 'output_text' ? textOf(text) : '')).join(''),
    reasoning: thoughts.map(({ text }) => textOf(text)).join(''),
    refusal: parts.map(({ type, refusal }) => (type === 'refusal' ? textOf(refusal) : '')).join(''),
    toolCalls: items.flatMap(callOf),
    stop: textOf(why.reason ?? response.status),
    usage: usageIn(response.usage),
    signatures: reasoning.flatMap(({ encrypted_content: payload }) => (typeof payload === 'string' ? [payload] : [])),
    model: textOf(response.model),
    id: textOf(response.id),
    error: response.error ? textOf(objectOf(response.error).message) : undefined,
  };
};

const callOf = (item: JsonObject): readonly FactCall[] => {
  if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return [];
  const input = textOf(item.arguments ?? item.input);
  return [
    {
      id: textOf(item.call_id),
      name: textOf(item.name),
      input: item.type === 'function_call' ? parsed(input) : input,
    },
  ];
};

const usageIn = (value: Json | undefined): FactUsage | undefined => {
  if (!value) return undefined;
  const usage = objectOf(value);
  const input = objectOf(usage.input_tokens_details);
  return {
    prompt: countOf(usage.input_tokens),
    cacheRead: countOf(input.cached_tokens),
    cacheWrite: countOf(input.cache_write_tokens),
    output: countOf(usage.output_tokens),
    reasoning: countOf(objectOf(usage.output_tokens_details).reasoning_tokens),
  };
};
