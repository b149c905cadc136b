import fc, { type Arbitrary } from 'fast-check';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { args, asJson, base64, members, name, rarely, schema, url, withUnknown, word } from './json.ts';

const cache = members({ type: fc.constant('ephemeral') }, { ttl: fc.constantFrom('5m', '1h') });
const cacheable = { cache_control: cache };
const is = (type: string) => ({ type: fc.constant(type) });

const webCitation = members({
  type: fc.constant('web_search_result_location'),
  url,
  title: word,
  encrypted_index: name,
  cited_text: word,
});
const charCitation = members({
  type: fc.constant('char_location'),
  cited_text: word,
  document_index: fc.nat(3),
  document_title: word,
  start_char_index: fc.nat(9),
  end_char_index: fc.integer({ min: 10, max: 20 }),
});

const text = withUnknown(members({ ...is('text'), text: word }, cacheable));
const answerText = withUnknown(
  members(
    { ...is('text'), text: word },
    { ...cacheable, citations: fc.array(fc.oneof(webCitation, charCitation), { minLength: 1, maxLength: 2 }) },
  ),
);

const base64Image = members({ ...is('base64'), media_type: fc.constantFrom('image/png', 'image/jpeg'), data: base64 });
const pdf = members({ ...is('base64'), media_type: fc.constant('application/pdf'), data: base64 });
const plainText = members({ ...is('text'), media_type: fc.constant('text/plain'), data: word });
const webSource = members({ ...is('url'), url });
const fileSource = members({ ...is('file'), file_id: name });
const blocks = members({ ...is('content'), content: fc.oneof(word, fc.array(text, { minLength: 1, maxLength: 2 })) });
const citations = members({ enabled: fc.boolean() });

const image = withUnknown(
  members(
    {
      ...is('image'),
      source: fc.oneof({ weight: 4, arbitrary: base64Image }, { weight: 4, arbitrary: webSource }, fileSource),
    },
    cacheable,
  ),
);
const document = withUnknown(
  members(
    {
      ...is('document'),
      source: fc.oneof(
        { weight: 4, arbitrary: pdf },
        { weight: 4, arbitrary: plainText },
        { weight: 4, arbitrary: blocks },
        webSource,
        fileSource,
      ),
    },
    { title: word, context: word, citations, ...cacheable },
  ),
);
const searchResult = withUnknown(
  members(
    { ...is('search_result'), source: url, title: word, content: fc.array(text, { minLength: 1, maxLength: 2 }) },
    { citations, ...cacheable },
  ),
);
const newBlock = members({ ...is('x_mark'), mark_id: name }, cacheable);

const userBlock = fc.oneof(
  { weight: 5, arbitrary: text },
  { weight: 2, arbitrary: image },
  { weight: 2, arbitrary: document },
  { weight: 2, arbitrary: searchResult },
  newBlock,
);

const thinking = members({ ...is('thinking'), thinking: word, signature: name });
const unsigned = members({ ...is('thinking'), thinking: word });
const redacted = members({ ...is('redacted_thinking'), data: name });
const serverCall = members({
  ...is('server_tool_use'),
  id: name,
  name: fc.constantFrom('web_search', 'web_fetch'),
  input: args,
});
const serverResult = members({
  ...is('web_search_tool_result'),
  tool_use_id: name,
  content: fc.array(
    members({ ...is('web_search_result'), url, title: word, encrypted_content: name }, { page_age: word }),
    { maxLength: 1 },
  ),
});
const call = withUnknown(members({ ...is('tool_use'), name, input: args }, cacheable));
const result = withUnknown(
  members(
    { ...is('tool_result') },
    {
      content: fc.oneof(
        word,
        fc.array(fc.oneof({ weight: 4, arbitrary: text }, image, document, searchResult), {
          minLength: 1,
          maxLength: 2,
        }),
      ),
      is_error: fc.boolean(),
      ...cacheable,
    },
  ),
);

/** A question, and a response with calls and their results. */
const round = fc
  .record({
    question: fc.oneof(word, fc.array(userBlock, { minLength: 1, maxLength: 3 })),
    thoughts: fc.array(fc.oneof(thinking, unsigned, redacted), { maxLength: 2 }),
    answer: fc.array(answerText, { minLength: 1, maxLength: 2 }),
    hosted: fc.array(fc.oneof(serverCall, serverResult), { maxLength: 1 }),
    calls: fc.array(fc.tuple(call, result), { maxLength: 2 }),
    note: rarely(word),
    unknown: rarely(word),
  })
  .map((parts) => parts);

type Round = typeof round extends Arbitrary<infer R> ? R : never;

const messagesOf = (rounds: readonly Round[]): readonly JsonObject[] =>
  rounds.flatMap(({ question, thoughts, answer, hosted, calls, note, unknown }, at) => [
    { role: 'user', content: question, ...(unknown !== undefined && { x_unknown: unknown }) },
    {
      role: 'assistant',
      content: [
        ...thoughts,
        ...answer,
        ...hosted,
        ...calls.map(([made], index) => ({ ...made, id: `toolu_${at}_${index}` })),
      ],
    },
    ...(calls.length > 0
      ? [
          {
            role: 'user',
            content: calls.map(([, given], index) => ({ ...given, tool_use_id: `toolu_${at}_${index}` })),
          },
        ]
      : []),
    ...(note === undefined ? [] : [{ role: 'system', content: note }]),
  ]);

const functionTool = withUnknown(
  members(
    { name, input_schema: schema },
    {
      type: fc.constant('custom'),
      description: word,
      strict: fc.boolean(),
      defer_loading: fc.boolean(),
      input_examples: fc.array(args, { minLength: 1, maxLength: 1 }),
      ...cacheable,
    },
  ),
);
const searchTool = fc
  .tuple(
    members(
      { ...is('web_search_20250305'), name: fc.constant('web_search') },
      {
        max_uses: fc.integer({ min: 1, max: 9 }),
        user_location: members({ ...is('approximate') }, { city: word, country: fc.constantFrom('DE', 'FR') }),
        ...cacheable,
      },
    ),
    rarely(fc.array(name, { minLength: 1, maxLength: 2 })),
    fc.boolean(),
  )
  .map(([tool, domains, allowed]) =>
    domains ? { ...tool, [allowed ? 'allowed_domains' : 'blocked_domains']: domains } : tool,
  );
const hostedTool = fc.oneof(
  members(
    { ...is('web_fetch_20250910'), name: fc.constant('web_fetch') },
    { max_uses: fc.integer({ min: 1, max: 9 }) },
  ),
  members({ ...is('code_execution_20250825'), name: fc.constant('code_execution') }),
);

const tools = fc
  .record({
    functions: fc.uniqueArray(functionTool, { minLength: 1, maxLength: 3, selector: (tool) => tool.name }),
    search: rarely(searchTool),
    hosted: rarely(hostedTool),
  })
  .map(({ functions, search, hosted }) => [...functions, search, hosted].filter((tool) => tool !== undefined));

const choiceOf = (names: readonly string[]) =>
  fc.oneof(
    members({ type: fc.constantFrom('auto', 'any') }, { disable_parallel_tool_use: fc.boolean() }),
    members({ ...is('none') }),
    members({ ...is('tool'), name: fc.constantFrom(...names) }, { disable_parallel_tool_use: fc.boolean() }),
  );

const toolMembers: Arbitrary<JsonObject> = fc.oneof(
  fc.constant({}),
  tools.chain((list) =>
    members(
      { tools: fc.constant(list) },
      { tool_choice: choiceOf(list.filter((tool) => 'input_schema' in tool).map((tool) => String(tool.name))) },
    ),
  ),
);

const thinkingControl = fc.oneof(
  members(
    { ...is('enabled'), budget_tokens: fc.oneof(fc.integer({ min: 1024, max: 3000 }), fc.constantFrom(500, 50_000)) },
    { display: fc.constantFrom('omitted', 'summarized') },
  ),
  members({ ...is('adaptive') }, { display: fc.constantFrom('omitted', 'summarized') }),
  members({ ...is('between_tools') }),
  members({ ...is('disabled') }),
);
const jsonFormat = members({ ...is('json_schema'), schema });

const controls = withUnknown(
  members(
    { model: fc.constant('m'), max_tokens: fc.integer({ min: 4000, max: 9000 }) },
    {
      stream: fc.boolean(),
      temperature: fc.integer({ min: 0, max: 9 }).map((tenths) => tenths / 10),
      top_p: fc.integer({ min: 1, max: 9 }).map((tenths) => tenths / 10),
      top_k: fc.integer({ min: 1, max: 50 }),
      stop_sequences: fc.uniqueArray(word, { minLength: 1, maxLength: 6 }),
      thinking: thinkingControl,
      output_config: withUnknown(
        members({}, { effort: fc.constantFrom('low', 'medium', 'high', 'xhigh', 'max'), format: jsonFormat }),
      ),
      metadata: members({}, { user_id: fc.oneof(name, word), account: word }),
      service_tier: fc.constantFrom('auto', 'standard_only'),
      cache_control: cache,
      speed: fc.constant('fast'),
      context_management: members({ edits: fc.array(members({ type: name }), { minLength: 1, maxLength: 1 }) }),
      fallbacks: fc.array(members({ model: name }), { minLength: 1, maxLength: 1 }),
    },
  ),
);

const system = fc.oneof(word, fc.array(text, { minLength: 1, maxLength: 2 }));

/** Messages conversations as lists of rounds, for bodies with a common beginning. */
export const messagesRounds: Arbitrary<readonly (readonly JsonObject[])[]> = fc
  .array(round, { minLength: 1, maxLength: 3 })
  .map((rounds) => rounds.map((_, index) => messagesOf(rounds.slice(0, index + 1)).map(asJson)));

/** Bodies of `POST /v1/messages` that the decoder accepts, covering the whole protocol. */
export const messagesBody: Arbitrary<JsonObject> = fc
  .record({
    head: controls,
    system: rarely(system),
    tools: toolMembers,
    rounds: fc.array(round, { maxLength: 2 }),
    last: fc.oneof(word, fc.array(userBlock, { minLength: 1, maxLength: 3 })),
  })
  .map(({ head, system: instructions, tools: toolFields, rounds, last }) =>
    asJson({
      ...head,
      system: instructions,
      ...toolFields,
      messages: [...messagesOf(rounds), { role: 'user', content: last }],
    }),
  );

/** All members of a body except `messages`. */
export const messagesHead: Arbitrary<JsonObject> = fc
  .tuple(controls, rarely(system), toolMembers)
  .map(([head, instructions, toolFields]) => asJson({ ...head, system: instructions, ...toolFields }));
