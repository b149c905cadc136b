import fc, { type Arbitrary } from 'fast-check';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { args, asJson, base64, members, name, rarely, schema, url, withUnknown, word } from './json.ts';

const is = (type: string) => ({ type: fc.constant(type) });
const mark = { prompt_cache_breakpoint: members({ mode: fc.constant('explicit') }) };

const inputText = withUnknown(members({ ...is('input_text'), text: word }, mark));
const inputImage = withUnknown(
  members(
    {
      ...is('input_image'),
      image_url: fc.oneof(
        url,
        base64.map((data) => `data:image/png;base64,${data}`),
      ),
    },
    { detail: fc.constantFrom('auto', 'low', 'high', 'original'), ...mark },
  ),
);
const inputFile = withUnknown(
  fc.oneof(
    {
      weight: 4,
      arbitrary: members(
        { ...is('input_file'), file_data: base64.map((data) => `data:application/pdf;base64,${data}`) },
        { filename: name },
      ),
    },
    members({ ...is('input_file'), file_url: url }, { filename: name }),
  ),
);
const userContent = fc.oneof(
  word,
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: inputText },
      { weight: 2, arbitrary: inputImage },
      { weight: 1, arbitrary: inputFile },
    ),
    { minLength: 1, maxLength: 3 },
  ),
);
const annotation = members({
  ...is('url_citation'),
  url,
  title: word,
  start_index: fc.nat(3),
  end_index: fc.integer({ min: 4, max: 8 }),
});
const fileAnnotation = members({ ...is('file_citation'), file_id: name, filename: name, index: fc.nat(3) });
const outputText = withUnknown(
  members(
    { ...is('output_text'), text: word },
    { annotations: fc.array(fc.oneof(annotation, fileAnnotation), { minLength: 1, maxLength: 2 }) },
  ),
);
const refusal = withUnknown(members({ ...is('refusal'), refusal: word }));

const reasoning = withUnknown(
  fc.oneof(
    members({
      ...is('reasoning'),
      summary: fc.array(members({ ...is('summary_text'), text: word }), { minLength: 1, maxLength: 2 }),
      encrypted_content: name,
    }),
    members({
      ...is('reasoning'),
      summary: fc.constant([]),
      content: fc.array(members({ ...is('reasoning_text'), text: word }), { minLength: 1, maxLength: 1 }),
    }),
    members({ ...is('reasoning'), summary: fc.constant([]), encrypted_content: name }),
  ),
);
const hostedItem = fc.oneof(
  members(
    { ...is('web_search_call'), id: name, status: fc.constant('completed') },
    { action: members({ ...is('search'), query: word }) },
  ),
  withUnknown(
    members(
      { ...is('mcp_call'), name, arguments: args.map((value) => JSON.stringify(value)) },
      { server_label: name, output: word },
    ),
  ),
);
const agentMessage = withUnknown(
  members({
    ...is('agent_message'),
    author: name,
    recipient: name,
    content: fc.array(fc.oneof(inputText, members({ ...is('encrypted_content'), encrypted_content: word })), {
      minLength: 1,
      maxLength: 3,
    }),
  }),
);

const functionCall = withUnknown(
  members({ ...is('function_call'), name, arguments: args.map((value) => JSON.stringify(value)) }),
);
const functionOutput = withUnknown(
  members({
    ...is('function_call_output'),
    output: fc.oneof(
      word,
      fc.array(fc.oneof({ weight: 3, arbitrary: inputText }, inputImage), { minLength: 1, maxLength: 2 }),
      members({ answer: word }),
    ),
  }),
);
const customCall = withUnknown(members({ ...is('custom_tool_call'), name: fc.constant('patch'), input: word }));
const customOutput = withUnknown(members({ ...is('custom_tool_call_output'), output: word }));

/** Calls of built-in tools that the client runs, and their outputs. */
const builtInPairs = fc.oneof(
  fc.tuple(
    withUnknown(members({ ...is('local_shell_call'), action: members({ command: fc.array(word) }, { user: name }) })),
    withUnknown(members({ ...is('local_shell_call_output'), output: word })),
  ),
  fc.tuple(
    withUnknown(
      members({ ...is('shell_call'), action: members({ commands: fc.array(word) }, { timeout_ms: fc.nat() }) }),
    ),
    withUnknown(members({ ...is('shell_call_output'), output: fc.array(members({ stdout: word, stderr: word })) })),
  ),
  fc.tuple(
    withUnknown(members({ ...is('apply_patch_call'), operation: members({ ...is('delete_file'), path: word }) })),
    withUnknown(members({ ...is('apply_patch_call_output'), output: word })),
  ),
  fc.tuple(
    withUnknown(members({ ...is('tool_search_call'), execution: fc.constant('client'), arguments: args })),
    withUnknown(members({ ...is('tool_search_output'), execution: fc.constant('client'), tools: fc.constant([]) })),
  ),
);

const round = fc.record({
  question: withUnknown(members({ role: fc.constant('user'), content: userContent }, { type: fc.constant('message') })),
  thoughts: fc.array(reasoning, { maxLength: 1 }),
  hosted: rarely(hostedItem),
  answer: withUnknown(
    members(
      {
        ...is('message'),
        role: fc.constant('assistant'),
        content: fc.oneof(
          word,
          fc.array(fc.oneof({ weight: 4, arbitrary: outputText }, refusal), { minLength: 1, maxLength: 2 }),
        ),
      },
      { phase: fc.constantFrom('commentary', 'final_answer') },
    ),
  ),
  calls: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.tuple(functionCall, functionOutput) },
      fc.tuple(customCall, customOutput),
      builtInPairs,
    ),
    { maxLength: 2 },
  ),
  task: rarely(agentMessage),
  note: rarely(
    withUnknown(
      members({
        role: fc.constantFrom('system', 'developer'),
        content: fc.oneof(word, fc.array(inputText, { minLength: 1, maxLength: 2 })),
      }),
    ),
  ),
});

type Round = typeof round extends Arbitrary<infer R> ? R : never;

const itemsOf = (rounds: readonly Round[]): readonly JsonObject[] =>
  rounds.flatMap(({ question, task, thoughts, hosted, answer, calls, note }, at) => [
    question,
    ...(task ? [task] : []),
    ...thoughts,
    ...(hosted ? [hosted] : []),
    answer,
    ...calls.map(([call], index) => ({ ...call, call_id: `call_${at}_${index}` })),
    ...calls.map(([, output], index) => ({ ...output, call_id: `call_${at}_${index}` })),
    ...(note ? [note] : []),
  ]);

const functionTool = withUnknown(
  members(
    { ...is('function'), name },
    { description: word, parameters: schema, strict: fc.boolean(), defer_loading: fc.boolean() },
  ),
);
const customTool = withUnknown(
  members(
    { ...is('custom'), name: fc.constant('patch') },
    {
      description: word,
      format: members({ ...is('grammar'), syntax: fc.constantFrom('lark', 'regex'), definition: word }),
    },
  ),
);
const namespaceTool = withUnknown(
  members(
    {
      ...is('namespace'),
      name: fc.constant('space'),
      tools: fc.uniqueArray(functionTool, { minLength: 1, maxLength: 2, selector: (tool) => tool.name }),
    },
    { description: word },
  ),
);
const searchTool = withUnknown(
  members(
    { type: fc.constantFrom('web_search', 'web_search_preview') },
    {
      filters: members({}, { allowed_domains: fc.array(name, { minLength: 1, maxLength: 2 }) }),
      search_context_size: fc.constantFrom('low', 'medium', 'high'),
      user_location: members({ ...is('approximate') }, { city: word, country: fc.constantFrom('DE', 'FR') }),
    },
  ),
);
const hostedTool = fc.oneof(
  members({ ...is('file_search'), vector_store_ids: fc.array(name, { minLength: 1, maxLength: 1 }) }),
  members({ ...is('code_interpreter'), container: members({ ...is('auto') }) }),
  members({ ...is('image_generation') }, { quality: fc.constantFrom('low', 'high') }),
  members({ ...is('mcp'), server_label: name, server_url: url }),
);

const choiceOf = (names: readonly string[]) =>
  fc.oneof(
    fc.constantFrom('auto', 'none', 'required'),
    members({ ...is('function'), name: fc.constantFrom(...names) }),
    members({
      ...is('allowed_tools'),
      mode: fc.constantFrom('auto', 'required'),
      tools: fc
        .uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 2 })
        .map((allowed) => allowed.map((one) => ({ type: 'function', name: one }))),
    }),
  );

const toolMembers: Arbitrary<JsonObject> = fc.oneof(
  fc.constant({}),
  members({}, { tool_choice: fc.constantFrom('auto', 'none', 'required'), parallel_tool_calls: fc.boolean() }),
  fc
    .tuple(
      fc.uniqueArray(functionTool, { minLength: 1, maxLength: 2, selector: (tool) => tool.name }),
      rarely(customTool),
      rarely(namespaceTool),
      rarely(searchTool),
      rarely(hostedTool),
    )
    .chain(([functions, ...others]) =>
      members(
        { tools: fc.constant([...functions, ...others.filter((tool) => tool !== undefined)]) },
        { tool_choice: choiceOf(functions.map((tool) => String(tool.name))), parallel_tool_calls: fc.boolean() },
      ),
    ),
);

const format = fc.oneof(
  members({ type: fc.constantFrom('text', 'json_object') }),
  withUnknown(members({ ...is('json_schema'), name, schema }, { description: word, strict: fc.boolean() })),
);

const controls = withUnknown(
  members(
    { model: fc.constant('m') },
    {
      instructions: word,
      max_output_tokens: fc.integer({ min: 4000, max: 9000 }),
      temperature: fc.integer({ min: 0, max: 20 }).map((tenths) => tenths / 10),
      top_p: fc.integer({ min: 1, max: 9 }).map((tenths) => tenths / 10),
      top_logprobs: fc.integer({ min: 0, max: 5 }),
      stream: fc.boolean(),
      stream_options: members({ include_obfuscation: fc.boolean() }),
      store: fc.boolean(),
      include: fc.uniqueArray(
        fc.constantFrom(
          'reasoning.encrypted_content',
          'message.output_text.logprobs',
          'web_search_call.action.sources',
        ),
        { minLength: 1, maxLength: 2 },
      ),
      text: withUnknown(members({}, { format, verbosity: fc.constantFrom('low', 'medium', 'high') })),
      reasoning: withUnknown(
        members(
          {},
          {
            effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh'),
            summary: fc.constantFrom('auto', 'concise', 'detailed'),
            generate_summary: fc.constantFrom('auto', 'concise', 'detailed'),
          },
        ),
      ),
      metadata: members({ team: word }),
      user: fc.oneof(name, word),
      safety_identifier: name,
      prompt_cache_key: name,
      prompt_cache_retention: fc.constantFrom('24h', 'in-memory'),
      service_tier: fc.constantFrom('auto', 'default', 'flex', 'priority'),
      truncation: fc.constantFrom('auto', 'disabled'),
      max_tool_calls: fc.integer({ min: 1, max: 9 }),
      background: fc.constant(false),
    },
  ),
);

const front = fc.array(
  withUnknown(
    members({
      role: fc.constantFrom('system', 'developer'),
      content: fc.oneof(word, fc.array(inputText, { minLength: 1, maxLength: 2 })),
    }),
  ),
  { maxLength: 2 },
);

/** Responses conversations as lists of rounds, for bodies with a common beginning. */
export const responsesRounds: Arbitrary<readonly (readonly JsonObject[])[]> = fc
  .array(round, { minLength: 1, maxLength: 3 })
  .map((rounds) => rounds.map((_, index) => itemsOf(rounds.slice(0, index + 1)).map(asJson)));

/** All members of a body except `input`. */
export const responsesHead: Arbitrary<JsonObject> = fc
  .tuple(controls, toolMembers)
  .map(([head, toolFields]) => asJson({ ...head, ...toolFields }));

/** Bodies of `POST /v1/responses` that the decoder accepts and that need no state on a server. */
export const responsesBody: Arbitrary<JsonObject> = fc
  .record({
    head: responsesHead,
    instructions: front,
    declared: rarely(
      members({
        ...is('additional_tools'),
        role: fc.constant('developer'),
        tools: fc.uniqueArray(fc.oneof(functionTool, namespaceTool), {
          minLength: 1,
          maxLength: 2,
          selector: (tool) => tool.name,
        }),
      }),
    ),
    rounds: fc.array(round, { maxLength: 2 }),
    last: withUnknown(members({ role: fc.constant('user'), content: userContent })),
  })
  .map(({ head, declared, instructions, rounds, last }) =>
    asJson({ ...head, input: [...(declared ? [declared] : []), ...instructions, ...itemsOf(rounds), last] }),
  );
