import fc, { type Arbitrary } from 'fast-check';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { args, asJson, base64, members, name, rarely, schema, url, withUnknown, word } from './json.ts';

const is = (type: string) => ({ type: fc.constant(type) });
const cacheable = { cache_control: members({ ...is('ephemeral') }, { ttl: fc.constantFrom('5m', '1h') }) };

const text = withUnknown(members({ ...is('text'), text: word }, cacheable));
const image = withUnknown(
  members(
    {
      ...is('image_url'),
      image_url: withUnknown(
        members(
          {
            url: fc.oneof(
              url,
              base64.map((data) => `data:image/png;base64,${data}`),
            ),
          },
          { detail: fc.constantFrom('auto', 'low', 'high') },
        ),
      ),
    },
    cacheable,
  ),
);
const refusal = withUnknown(members({ ...is('refusal'), refusal: word }));
const texts = fc.oneof(word, fc.array(text, { minLength: 1, maxLength: 2 }));
const userContent = fc.oneof(word, fc.array(fc.oneof(text, image), { minLength: 1, maxLength: 3 }));

const details = fc.array(
  fc.oneof(
    members({
      ...is('reasoning.text'),
      text: word,
      signature: name,
      format: fc.constant('unknown'),
      index: fc.constant(0),
    }),
    members({ ...is('reasoning.encrypted'), data: name, format: fc.constant('unknown'), index: fc.constant(1) }),
  ),
  { minLength: 1, maxLength: 2 },
);
const annotation = members({
  ...is('url_citation'),
  url_citation: members({ url, title: word, start_index: fc.nat(4), end_index: fc.integer({ min: 5, max: 9 }) }),
});

const round = fc.record({
  question: withUnknown(members({ role: fc.constant('user'), content: userContent }, { name })),
  answer: withUnknown(
    members(
      {
        role: fc.constant('assistant'),
        content: fc.oneof(
          word,
          fc.array(fc.oneof({ weight: 3, arbitrary: text }, refusal), { minLength: 1, maxLength: 2 }),
        ),
      },
      { name, annotations: fc.array(annotation, { minLength: 1, maxLength: 1 }) },
    ),
  ),
  reasoning: rarely(
    fc.oneof(
      members({ reasoning_content: word }),
      members({ reasoning: word }),
      members({ reasoning_details: details }),
    ),
  ),
  refusal: rarely(word),
  calls: fc.array(
    fc.tuple(
      withUnknown(
        members({
          ...is('function'),
          function: members({ name, arguments: args.map((value) => JSON.stringify(value)) }),
        }),
      ),
      withUnknown(members({ role: fc.constant('tool'), content: texts })),
    ),
    { maxLength: 2 },
  ),
  note: rarely(members({ role: fc.constantFrom('system', 'developer'), content: texts }, { name })),
});

type Round = typeof round extends Arbitrary<infer R> ? R : never;

const messagesOf = (rounds: readonly Round[]): readonly JsonObject[] =>
  rounds.flatMap(({ question, answer, reasoning, refusal: declined, calls, note }, at) => [
    question,
    {
      ...answer,
      ...reasoning,
      refusal: declined,
      ...(calls.length > 0 && { tool_calls: calls.map(([call], index) => ({ ...call, id: `call_${at}_${index}` })) }),
    },
    ...calls.map(([, result], index) => ({ ...result, tool_call_id: `call_${at}_${index}` })),
    ...(note ? [note] : []),
  ]);

const functionTool = withUnknown(
  members(
    {
      ...is('function'),
      function: withUnknown(members({ name }, { description: word, parameters: schema, strict: fc.boolean() })),
    },
    cacheable,
  ),
);
const place = members({
  ...is('approximate'),
  approximate: members({}, { city: word, country: fc.constantFrom('DE', 'FR') }),
});
const searchMembers = { search_context_size: fc.constantFrom('low', 'medium', 'high'), user_location: place };
const searchTool = members(
  { ...is('web_search') },
  {
    ...searchMembers,
    filters: members({}, { allowed_domains: fc.array(name, { minLength: 1, maxLength: 2 }) }),
    max_uses: fc.integer({ min: 1, max: 9 }),
  },
);

const nameOf = (tool: JsonObject): string =>
  typeof tool.function === 'object' && tool.function !== null && 'name' in tool.function
    ? String(tool.function.name)
    : '';

const choiceOf = (names: readonly string[]) =>
  fc.oneof(
    fc.constantFrom('auto', 'none', 'required'),
    members({ ...is('function'), function: members({ name: fc.constantFrom(...names) }) }),
    members({
      ...is('allowed_tools'),
      allowed_tools: members({
        mode: fc.constantFrom('auto', 'required'),
        tools: fc
          .uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 2 })
          .map((allowed) => allowed.map((one) => ({ type: 'function', function: { name: one } }))),
      }),
    }),
  );

const toolMembers: Arbitrary<JsonObject> = fc.oneof(
  fc.constant({}),
  members({}, { tool_choice: fc.constantFrom('auto', 'none', 'required'), parallel_tool_calls: fc.boolean() }),
  fc
    .tuple(fc.uniqueArray(functionTool, { minLength: 1, maxLength: 3, selector: nameOf }), rarely(searchTool))
    .chain(([functions, search]) =>
      members(
        { tools: fc.constant(search ? [...functions, search] : functions) },
        { tool_choice: choiceOf(functions.map(nameOf)), parallel_tool_calls: fc.boolean() },
      ),
    ),
);

const controls = withUnknown(
  members(
    { model: fc.constant('m') },
    {
      max_tokens: fc.integer({ min: 4000, max: 9000 }),
      max_completion_tokens: fc.integer({ min: 4000, max: 9000 }),
      temperature: fc.integer({ min: 0, max: 20 }).map((tenths) => tenths / 10),
      top_p: fc.integer({ min: 1, max: 9 }).map((tenths) => tenths / 10),
      top_k: fc.integer({ min: 1, max: 50 }),
      stop: fc.oneof(word, fc.uniqueArray(word, { minLength: 1, maxLength: 6 })),
      seed: fc.integer({ min: 1, max: 99 }),
      presence_penalty: fc.constantFrom(-1, 0.5, 2),
      frequency_penalty: fc.constantFrom(-1, 0.5, 2),
      logit_bias: members({ '50256': fc.integer({ min: -9, max: 9 }) }),
      response_format: members({ type: fc.constantFrom('text', 'json_object') }),
      reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh'),
      verbosity: fc.constantFrom('low', 'medium', 'high'),
      stream: fc.boolean(),
      stream_options: members({}, { include_usage: fc.boolean(), include_obfuscation: fc.boolean() }),
      user: fc.oneof(name, word),
      safety_identifier: name,
      metadata: members({ team: word }),
      service_tier: fc.constantFrom('auto', 'default', 'flex', 'priority'),
      prompt_cache_key: name,
      prompt_cache_retention: fc.constantFrom('24h', 'in-memory'),
      web_search_options: members({}, searchMembers),
      cache_control: members({ ...is('ephemeral') }, { ttl: fc.constantFrom('5m', '1h') }),
    },
  ),
);

const instructions = fc.array(
  withUnknown(members({ role: fc.constantFrom('system', 'developer'), content: texts }, { name })),
  { maxLength: 2 },
);

/** Chat Completions conversations as lists of rounds, for bodies with a common beginning. */
export const chatRounds: Arbitrary<readonly (readonly JsonObject[])[]> = fc
  .array(round, { minLength: 1, maxLength: 3 })
  .map((rounds) => rounds.map((_, index) => messagesOf(rounds.slice(0, index + 1)).map(asJson)));

/** All members of a body except `messages`. */
export const chatHead: Arbitrary<JsonObject> = fc
  .tuple(controls, toolMembers)
  .map(([head, toolFields]) => asJson({ ...head, ...toolFields }));

/** Bodies of `POST /chat/completions` that the decoder accepts, covering everything the route supports. */
export const chatBody: Arbitrary<JsonObject> = fc
  .record({
    head: chatHead,
    front: instructions,
    rounds: fc.array(round, { maxLength: 2 }),
    last: withUnknown(members({ role: fc.constant('user'), content: userContent }, { name })),
  })
  .map(({ head, front, rounds, last }) => asJson({ ...head, messages: [...front, ...messagesOf(rounds), last] }));
