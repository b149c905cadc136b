import { packSummary } from '../../../engine/model/compaction.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';

/** What a client may ask for, and where in the body it does. */
export interface Case {
  readonly what: string;
  readonly at: string;
  /** Beside the smallest body. */
  readonly body: JsonObject;
}

const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const mark = { type: 'ephemeral' };
const png = 'data:image/png;base64,iVBORw0KGgo=';
const pdf = 'data:application/pdf;base64,JVBERi0=';

const top = (fields: JsonObject, at = Object.keys(fields)[0] ?? ''): Case => ({ what: '', at, body: fields });
const named = (what: string, entry: Case): Case => ({ ...entry, what });

// Messages
const mTool = { name: 'f', description: 'd', input_schema: schema };
const mUser = (...content: readonly JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] });
const mBlock = (what: string, block: JsonObject, member = ''): Case => ({
  what,
  at: `messages[0].content[0]${member}`,
  body: mUser(block, { type: 'text', text: 'x' }),
});
const mAnswer = (what: string, block: JsonObject, member = ''): Case => ({
  what,
  at: `messages[1].content[0]${member}`,
  body: {
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: [block, { type: 'text', text: 'y' }] },
      { role: 'user', content: 'z' },
    ],
  },
});
const mResult = (what: string, more: JsonObject, member = ''): Case => ({
  what,
  at: `messages[2].content[0]${member}`,
  body: {
    tools: [mTool],
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', ...more }] },
    ],
  },
});
const mTools = (what: string, tool: JsonObject, member = ''): Case => ({
  what,
  at: `tools[0]${member}`,
  body: { tools: [tool, { ...mTool, name: 'g' }] },
});
const base64 = (media_type: string) => ({ type: 'base64', media_type, data: 'AAAA' });

// Chat Completions
const cTool = (more: JsonObject = {}): JsonObject => ({
  type: 'function',
  function: { name: 'f', parameters: schema, ...more },
});
const cPart = (what: string, part: JsonObject, member = ''): Case => ({
  what,
  at: `messages[0].content[0]${member}`,
  body: { messages: [{ role: 'user', content: [part, { type: 'text', text: 'x' }] }] },
});
const cAnswer = (what: string, more: JsonObject, at: string): Case => ({
  what,
  at: `messages[1].${at}`,
  body: {
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'y', ...more },
      { role: 'user', content: 'z' },
    ],
  },
});

// Responses
const rTool = { type: 'function', name: 'f', parameters: schema };
const rTools = (what: string, tool: JsonObject, member = ''): Case => ({
  what,
  at: `tools[0]${member}`,
  body: { tools: [tool, rTool] },
});
const rPart = (what: string, part: JsonObject, member = ''): Case => ({
  what,
  at: `input[0].content[0]${member}`,
  body: { input: [{ role: 'user', content: [part, { type: 'input_text', text: 'x' }] }] },
});
const rItem = (what: string, item: JsonObject, member = ''): Case => ({
  what,
  at: `input[1]${member}`,
  body: {
    input: [{ role: 'user', content: 'x' }, item, { role: 'assistant', content: 'y' }, { role: 'user', content: 'z' }],
  },
});

/** The smallest body of each client protocol. */
export const smallest: Readonly<Record<string, JsonObject>> = {
  messages: { model: 'm', max_tokens: 4096, messages: [{ role: 'user', content: 'x' }] },
  chat: { model: 'm', messages: [{ role: 'user', content: 'x' }] },
  responses: { model: 'm', input: [{ role: 'user', content: 'x' }] },
};

/** What the table in the docs tells of. */
export const cases: Readonly<Record<string, readonly Case[]>> = {
  messages: [
    named('`system` blocks', top({ system: [{ type: 'text', text: 's' }] })),
    {
      what: '`system` message in the middle',
      at: 'messages[1]',
      body: {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'system', content: 's' },
          { role: 'user', content: 'y' },
        ],
      },
    },
    named('`temperature`', top({ temperature: 0.5 })),
    named('`top_p`', top({ top_p: 0.5 })),
    named('`top_k`', top({ top_k: 5 })),
    named('`stop_sequences`, one', top({ stop_sequences: ['a'] })),
    named('`stop_sequences`, six', top({ stop_sequences: ['1', '2', '3', '4', '5', '6'] })),
    named('`thinking` with a budget', top({ thinking: { type: 'enabled', budget_tokens: 2048 } })),
    named('`thinking: adaptive`', top({ thinking: { type: 'adaptive' } })),
    named('`thinking: disabled`', top({ thinking: { type: 'disabled' } })),
    named(
      '`thinking.display: omitted`',
      top({ thinking: { type: 'adaptive', display: 'omitted' } }, 'thinking.display'),
    ),
    named('`output_config.effort: medium`', top({ output_config: { effort: 'medium' } }, 'output_config.effort')),
    named('`output_config.effort: max`', top({ output_config: { effort: 'max' } }, 'output_config.effort')),
    named(
      '`output_config.format`',
      top({ output_config: { format: { type: 'json_schema', schema } } }, 'output_config.format'),
    ),
    named('`metadata.user_id`', top({ metadata: { user_id: 'u' } }, 'metadata.user_id')),
    named('`service_tier: standard_only`', top({ service_tier: 'standard_only' })),
    named('`cache_control` of the request', top({ cache_control: mark })),
    named('`container`, `mcp_servers`, `thread`', top({ container: 'c' })),
    named('`compaction`, on demand', top({ compaction: { type: 'summarize' } })),
    named('`context_management`, `fallbacks`', top({ fallbacks: [{ model: 'n' }] })),
    named('an unknown field', top({ x_new: 1 })),
    mBlock('`cache_control` of a text', { type: 'text', text: 'a', cache_control: mark }, '.cache_control'),
    mBlock('image, base64', { type: 'image', source: base64('image/png') }),
    mBlock('image, URL', { type: 'image', source: { type: 'url', url: 'https://h/x.png' } }),
    mBlock('image, file id', { type: 'image', source: { type: 'file', file_id: 'f' } }),
    mBlock('document, PDF', { type: 'document', source: base64('application/pdf') }),
    mBlock('document, URL', { type: 'document', source: { type: 'url', url: 'https://h/x.pdf' } }),
    mBlock('document, text', { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } }),
    mBlock(
      'document, `citations`',
      { type: 'document', citations: { enabled: true }, source: base64('application/pdf') },
      '.citations',
    ),
    mBlock('`search_result`', {
      type: 'search_result',
      source: 'https://h',
      title: 't',
      content: [{ type: 'text', text: 'c' }],
    }),
    mAnswer(
      '`citations` of an earlier answer',
      {
        type: 'text',
        text: 'a',
        citations: [
          { type: 'web_search_result_location', url: 'https://h', title: 't', encrypted_index: 'e', cited_text: 'c' },
        ],
      },
      '.citations',
    ),
    mAnswer('`thinking` of an earlier answer', { type: 'thinking', thinking: 'h', signature: 's' }),
    mAnswer('`redacted_thinking` of an earlier answer', { type: 'redacted_thinking', data: 'd' }),
    {
      what: '`compaction` block',
      at: 'messages[1].content[0]',
      body: {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: [{ type: 'compaction', content: 's' }] },
          { role: 'user', content: 'z' },
        ],
      },
    },
    mBlock('`container_upload`, unknown content', {
      type: 'container_upload',
      file_id: 'f',
    }),
    {
      what: '`effort` of a message',
      at: 'messages[1]',
      body: {
        thinking: { type: 'adaptive' },
        messages: [
          { role: 'user', content: 'x' },
          { role: 'system', content: 's', output_config: { effort: 'low' } },
        ],
      },
    },
    {
      what: '`tool_addition`, `tool_removal`',
      at: 'messages[1].content[0]',
      body: {
        tools: [mTool, { ...mTool, name: 'g' }],
        messages: [
          { role: 'user', content: 'x' },
          {
            role: 'system',
            content: [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'g' } }],
          },
        ],
      },
    },
    mAnswer('`server_tool_use` and other hosted blocks', {
      type: 'server_tool_use',
      id: 's',
      name: 'web_search',
      input: {},
    }),
    mResult('`tool_result`, text', { content: 'r' }),
    mResult('`tool_result`, image', { content: [{ type: 'image', source: base64('image/png') }] }),
    mResult('`tool_reference`', { content: [{ type: 'tool_reference', tool_name: 'f' }] }, '.content[0]'),
    mResult('`tool_result`, `is_error`', { content: 'r', is_error: true }, '.is_error'),
    mTools('`tools[].strict`', { ...mTool, strict: true }, '.strict'),
    mTools('`tools[].cache_control`', { ...mTool, cache_control: mark }, '.cache_control'),
    mTools('`defer_loading`, nothing names it', { ...mTool, defer_loading: true }),
    mTools('`input_examples`', { ...mTool, input_examples: [{}] }, '.input_examples'),
    mTools('`tool_search_tool`', { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }),
    mTools('`web_search`', { type: 'web_search_20250305', name: 'web_search' }),
    mTools(
      '`web_search`, `allowed_domains`',
      { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['h'] },
      '.allowed_domains',
    ),
    mTools('`web_search`, `max_uses`', { type: 'web_search_20250305', name: 'web_search', max_uses: 3 }, '.max_uses'),
    mTools('`web_fetch`', { type: 'web_fetch_20250910', name: 'web_fetch' }),
    mTools('`code_execution`', { type: 'code_execution_20250825', name: 'code_execution' }),
    mTools('`bash`, `memory`', { type: 'bash_20250124', name: 'bash' }),
    mTools('`text_editor`, `computer`, `mcp_toolset`', { type: 'text_editor_20250728', name: 'e' }),
    named('`tool_choice: any`', {
      what: '',
      at: 'tool_choice',
      body: { tools: [mTool], tool_choice: { type: 'any' } },
    }),
    named('`disable_parallel_tool_use`', {
      what: '',
      at: 'tool_choice.disable_parallel_tool_use',
      body: { tools: [mTool], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    }),
  ],
  chat: [
    named('`max_completion_tokens`', top({ max_completion_tokens: 4096 })),
    named('`temperature` up to 1', top({ temperature: 0.5 })),
    named('`temperature` above 1', top({ temperature: 1.5 })),
    named('`top_p`', top({ top_p: 0.5 })),
    named('`top_k`', top({ top_k: 5 })),
    named('`stop`, one', top({ stop: 'a' })),
    named('`stop`, six', top({ stop: ['1', '2', '3', '4', '5', '6'] })),
    named('`seed`', top({ seed: 7 })),
    named('`presence_penalty`, `frequency_penalty`', top({ presence_penalty: 0.5 })),
    named('`logit_bias`', top({ logit_bias: { 5: 1 } })),
    named('`response_format: json_object`', top({ response_format: { type: 'json_object' } })),
    named('`reasoning_effort: none`', top({ reasoning_effort: 'none' })),
    named('`reasoning_effort: medium`', top({ reasoning_effort: 'medium' })),
    named('`reasoning_effort: xhigh`', top({ reasoning_effort: 'xhigh' })),
    named('`verbosity`', top({ verbosity: 'low' })),
    named('`user`', top({ user: 'u' })),
    named('`metadata`', top({ metadata: { a: 'b' } })),
    named('`service_tier: flex`', top({ service_tier: 'flex' })),
    named('`prompt_cache_key`', top({ prompt_cache_key: 'k' })),
    named(
      '`stream_options.include_obfuscation`',
      top({ stream: true, stream_options: { include_obfuscation: false } }, 'stream_options.include_obfuscation'),
    ),
    named('an unknown field', top({ x_new: 1 })),
    {
      what: '`name` of a message',
      at: 'messages[0].name',
      body: { messages: [{ role: 'user', name: 'n', content: 'x' }] },
    },
    cPart('`cache_control` of a text', { type: 'text', text: 'a', cache_control: mark }, '.cache_control'),
    cPart('`image_url`, data URL', { type: 'image_url', image_url: { url: png } }),
    cPart('`image_url`, URL', { type: 'image_url', image_url: { url: 'https://h/x.png' } }),
    cPart('`image_url.detail`', { type: 'image_url', image_url: { url: png, detail: 'low' } }, '.image_url.detail'),
    cAnswer('`refusal` of an earlier answer', { refusal: 'no' }, 'refusal'),
    cAnswer('`reasoning_content` of an earlier answer', { reasoning_content: 'h' }, 'reasoning_content'),
    cAnswer(
      '`annotations` of an earlier answer',
      {
        annotations: [
          { type: 'url_citation', url_citation: { url: 'https://h', title: 't', start_index: 0, end_index: 1 } },
        ],
      },
      'annotations',
    ),
    named('`tools[].function.strict`', {
      what: '',
      at: 'tools[0].function.strict',
      body: { tools: [cTool({ strict: true })] },
    }),
    named('`web_search_options`', top({ tools: [cTool()], web_search_options: {} }, 'web_search_options')),
    named('`tool_choice: required`', {
      what: '',
      at: 'tool_choice',
      body: { tools: [cTool()], tool_choice: 'required' },
    }),
    named('`tool_choice: allowed_tools`', {
      what: '',
      at: 'tool_choice',
      body: {
        tools: [cTool(), cTool({ name: 'g' })],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
        },
      },
    }),
    named('`parallel_tool_calls: false`', {
      what: '',
      at: 'parallel_tool_calls',
      body: { tools: [cTool()], parallel_tool_calls: false },
    }),
  ],
  responses: [
    named('`instructions`', top({ instructions: 'i' })),
    named('`max_output_tokens`', top({ max_output_tokens: 4096 })),
    named('`temperature` above 1', top({ temperature: 1.5 })),
    named('`top_p`', top({ top_p: 0.5 })),
    named('`reasoning.effort: none`', top({ reasoning: { effort: 'none' } })),
    named('`reasoning.effort: medium`', top({ reasoning: { effort: 'medium' } })),
    named('`reasoning.summary: auto`', top({ reasoning: { effort: 'medium', summary: 'auto' } }, 'reasoning.summary')),
    named(
      '`reasoning.summary: detailed`',
      top({ reasoning: { effort: 'medium', summary: 'detailed' } }, 'reasoning.summary'),
    ),
    named('`text.format: json_object`', top({ text: { format: { type: 'json_object' } } }, 'text.format')),
    named(
      '`text.format: json_schema`',
      top({ text: { format: { type: 'json_schema', name: 'n', schema } } }, 'text.format.schema'),
    ),
    named(
      '`text.format`, `name` and `strict`',
      top({ text: { format: { type: 'json_schema', name: 'n', strict: true, schema } } }, 'text.format.strict'),
    ),
    named('`text.verbosity`', top({ text: { verbosity: 'low' } }, 'text.verbosity')),
    named('`metadata`', top({ metadata: { a: 'b' } })),
    named('`user`', top({ user: 'u' })),
    named('`prompt_cache_key`', top({ prompt_cache_key: 'k' })),
    named('`service_tier: flex`', top({ service_tier: 'flex' })),
    named('`store: true`', top({ store: true })),
    named('`include`, but for sealed reasoning', top({ include: ['web_search_call.action.sources'] })),
    named('`truncation: auto`', top({ truncation: 'auto' })),
    named('`max_tool_calls`, `top_logprobs`', top({ max_tool_calls: 3 })),
    named('an unknown field', top({ x_new: 1 })),
    rPart(
      '`prompt_cache_breakpoint`',
      { type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
      '.prompt_cache_breakpoint',
    ),
    rPart('`input_image`', { type: 'input_image', image_url: png }),
    rPart('`input_image.detail: original`', { type: 'input_image', image_url: png, detail: 'original' }, '.detail'),
    rPart('`input_file`, PDF', { type: 'input_file', filename: 'f.pdf', file_data: pdf }),
    rPart('`input_file`, URL', { type: 'input_file', file_url: 'https://h/f.pdf' }),
    rPart('`input_image`, file id', { type: 'input_image', file_id: 'f' }),
    rPart('`input_audio`', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }),
    rItem('`reasoning`, sealed', {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'h' }],
      encrypted_content: 'e',
    }),
    rItem('`web_search_call` and other hosted items', { type: 'web_search_call', id: 'w', status: 'completed' }),
    rItem('`additional_tools`', { type: 'additional_tools', role: 'developer', tools: [{ ...rTool, name: 'g' }] }),
    rItem('`configuration_update`', { type: 'configuration_update', text: { format: { type: 'json_object' } } }),
    rItem('`mcp_call`', { type: 'mcp_call', id: 'm', server_label: 's', name: 'n', arguments: '{}', output: 'o' }),
    rItem('`agent_message`', {
      type: 'agent_message',
      author: '/root',
      recipient: '/root/a',
      content: [{ type: 'input_text', text: 't' }],
    }),
    rItem('`agent_message`, sealed', {
      type: 'agent_message',
      author: '/root',
      recipient: '/root/a',
      content: [{ type: 'encrypted_content', encrypted_content: 'gAAAAAB' }],
    }),
    rItem('`compaction` written by the gateway', { type: 'compaction', encrypted_content: packSummary('s') }),
    rItem("a vendor's `compaction`, `program`, `computer_call` and their outputs", {
      type: 'compaction',
      encrypted_content: 'e',
    }),
    rItem('`mcp_approval_request`, `multi_agent_call`, answered', {
      type: 'mcp_approval_request',
      id: 'm',
      server_label: 's',
      name: 'n',
      arguments: '{}',
    }),
    rItem('an unknown item', { type: 'something_new' }),
    rItem('`phase` of a message', { type: 'message', role: 'assistant', phase: 'commentary', content: 'p' }, '.phase'),
    rTools('`strict`', { ...rTool, name: 'g', strict: true }, '.strict'),
    rTools('`defer_loading`', { ...rTool, name: 'g', defer_loading: true }, '.defer_loading'),
    rTools('custom tool', { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'd' } }),
    rTools(
      'namespace, its description',
      { type: 'namespace', name: 's', description: 'd', tools: [{ ...rTool, name: 'g' }] },
      '.description',
    ),
    rTools('`tool_search` of the client, `local_shell`, `shell`, `apply_patch`', { type: 'apply_patch' }),
    rTools('an unknown tool', { type: 'something_new' }),
    rTools('`web_search`', { type: 'web_search' }),
    rTools(
      '`web_search`, `filters`',
      { type: 'web_search', filters: { allowed_domains: ['h'] } },
      '.filters.allowed_domains',
    ),
    rTools('`code_interpreter`', { type: 'code_interpreter', container: { type: 'auto' } }),
    rTools('`file_search`, `mcp`, `image_generation` …', { type: 'file_search', vector_store_ids: ['v'] }),
    named('`parallel_tool_calls: false`', {
      what: '',
      at: 'parallel_tool_calls',
      body: { tools: [rTool], parallel_tool_calls: false },
    }),
  ],
};
