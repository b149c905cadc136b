import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { ItemType, ToolType } from '../../../protocols/responses/decode-request/schema-items.ts';

/**
 * What becomes of an item or tool on its way to another format: it reaches the model (`said`), is left out with a loss (`lost`),
 * is used without reaching the model as such (`used`), or is refused at this path.
 */
export type Outcome = 'said' | 'lost' | 'used' | { readonly refused: string };

interface ItemCase {
  /** The conversation between a user's question and the end of the input; `item` counts its members. */
  readonly items: readonly JsonObject[];
  /** The place of the item in it; 0 unless given. */
  readonly item?: number;
  readonly outcome: Outcome;
  /** What the upstream's body must hold if the item is said. */
  readonly holds?: readonly string[];
}

const refused = (member = ''): Outcome => ({ refused: `input[1]${member}` });
const call = (type: string, more: JsonObject): JsonObject => ({ type, call_id: 'call_1', id: 'it_1', ...more });
const answer = { role: 'assistant', content: 'and then' } as const;
const lookUp = {
  type: 'function',
  name: 'look_up',
  parameters: { type: 'object', properties: {} },
  defer_loading: true,
} as const;

const shell = call('local_shell_call', {
  status: 'completed',
  action: { type: 'exec', command: ['ls', '-x'], env: {} },
});
const commands = call('shell_call', { status: 'completed', action: { commands: ['ls -y'], timeout_ms: null } });
const patch = call('apply_patch_call', {
  status: 'completed',
  operation: { type: 'update_file', path: 'file.z', diff: '+a' },
});
const search = call('tool_search_call', { execution: 'client', status: 'completed', arguments: { query: 'looking' } });

/** An item of each type. Sources: OpenAI API reference, "Create a model response", `input`; Codex 0.171, as recorded. */
export const itemCases: Readonly<Record<ItemType, ItemCase>> = {
  message: { items: [{ type: 'message', role: 'user', content: 'hello' }], outcome: 'said', holds: ['hello'] },
  reasoning: {
    items: [{ type: 'reasoning', summary: [], encrypted_content: 'sealed' }, answer],
    outcome: 'lost',
  },
  function_call: {
    items: [
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c', output: 'o' },
    ],
    outcome: 'said',
    holds: ['"f"'],
  },
  function_call_output: {
    items: [
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'the output' },
    ],
    item: 1,
    outcome: 'said',
    holds: ['the output'],
  },
  custom_tool_call: {
    items: [
      { type: 'custom_tool_call', call_id: 'c', name: 'p', input: 'free text' },
      { type: 'custom_tool_call_output', call_id: 'c', output: 'o' },
    ],
    outcome: 'said',
    holds: ['free text'],
  },
  custom_tool_call_output: {
    items: [
      { type: 'custom_tool_call', call_id: 'c', name: 'p', input: 'i' },
      { type: 'custom_tool_call_output', call_id: 'c', output: 'the output' },
    ],
    item: 1,
    outcome: 'said',
    holds: ['the output'],
  },
  additional_tools: {
    items: [{ type: 'additional_tools', role: 'developer', tools: [lookUp] }],
    outcome: 'said',
    holds: ['look_up'],
  },
  tool_search_call: {
    items: [search, { type: 'tool_search_output', call_id: 'call_1', execution: 'client', tools: [] }],
    outcome: 'said',
    holds: ['tool_search', 'looking'],
  },
  tool_search_output: {
    items: [
      search,
      {
        type: 'tool_search_output',
        call_id: 'call_1',
        execution: 'client',
        status: 'completed',
        tools: [{ type: 'namespace', name: 'mcp__demo', description: 'd', tools: [lookUp] }],
      },
    ],
    item: 1,
    outcome: 'said',
    holds: ['can be called now: mcp__demo__look_up', '"mcp__demo__look_up"'],
  },
  local_shell_call: {
    items: [shell, { type: 'local_shell_call_output', id: 'it_1', output: 'listed' }],
    outcome: 'said',
    holds: ['local_shell', '-x'],
  },
  local_shell_call_output: {
    items: [shell, { type: 'local_shell_call_output', id: 'it_1', output: 'listed' }],
    item: 1,
    outcome: 'said',
    holds: ['listed'],
  },
  shell_call: {
    items: [commands, { type: 'shell_call_output', call_id: 'call_1', output: [] }],
    outcome: 'said',
    holds: ['"shell"', 'ls -y'],
  },
  shell_call_output: {
    items: [
      commands,
      {
        type: 'shell_call_output',
        call_id: 'call_1',
        output: [{ stdout: 'listed', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
    ],
    item: 1,
    outcome: 'said',
    holds: ['listed'],
  },
  apply_patch_call: {
    items: [patch, { type: 'apply_patch_call_output', call_id: 'call_1', status: 'completed' }],
    outcome: 'said',
    holds: ['apply_patch', 'file.z'],
  },
  apply_patch_call_output: {
    items: [patch, { type: 'apply_patch_call_output', call_id: 'call_1', status: 'failed', output: 'no such file' }],
    item: 1,
    outcome: 'said',
    holds: ['no such file'],
  },
  computer_call: { items: [call('computer_call', { action: { type: 'screenshot' } }), answer], outcome: refused() },
  computer_call_output: {
    items: [call('computer_call_output', { output: { type: 'computer_screenshot', image_url: 'data:' } }), answer],
    outcome: refused(),
  },
  configuration_update: {
    items: [{ type: 'configuration_update', text: { format: { type: 'json_object' } } }],
    outcome: 'used',
  },
  agent_message: {
    items: [
      {
        type: 'agent_message',
        author: '/root',
        recipient: '/root/test',
        content: [
          { type: 'input_text', text: 'NEW_TASK' },
          { type: 'encrypted_content', encrypted_content: 'Count the files.' },
        ],
      },
    ],
    outcome: 'said',
    holds: ['/root', '/root/test', 'NEW_TASK', 'Count the files.'],
  },
  multi_agent_call: { items: [call('multi_agent_call', { author: 'a' })], outcome: refused() },
  multi_agent_call_output: { items: [call('multi_agent_call_output', { output: 'o' })], outcome: refused() },
  compaction: { items: [{ type: 'compaction', encrypted_content: 'past' }, answer], outcome: refused() },
  compaction_summary: {
    items: [{ type: 'compaction_summary', encrypted_content: 'past' }, answer],
    outcome: refused(),
  },
  compaction_trigger: { items: [{ type: 'compaction_trigger' }], outcome: 'used' },
  item_reference: {
    items: [
      { type: 'item_reference', id: 'msg_1' },
      { ...answer, id: 'msg_1' },
    ],
    outcome: 'used',
  },
  program: { items: [call('program', { code: 'f()', fingerprint: 'x' }), answer], outcome: refused() },
  program_output: { items: [call('program_output', { result: 'r' }), answer], outcome: refused() },
  web_search_call: { items: [{ type: 'web_search_call', id: 'ws', status: 'completed' }, answer], outcome: 'lost' },
  file_search_call: { items: [{ type: 'file_search_call', id: 'fs', queries: ['q'] }, answer], outcome: 'lost' },
  code_interpreter_call: { items: [{ type: 'code_interpreter_call', id: 'ci', code: '1' }, answer], outcome: 'lost' },
  image_generation_call: {
    items: [{ type: 'image_generation_call', id: 'ig', result: 'AAAA' }, answer],
    outcome: 'lost',
  },
  mcp_list_tools: {
    items: [{ type: 'mcp_list_tools', id: 'ml', server_label: 's', tools: [] }, answer],
    outcome: 'lost',
  },
  mcp_call: {
    items: [
      { type: 'mcp_call', id: 'mc', server_label: 'docs', name: 'find', arguments: '{"q":1}', output: 'the page' },
      answer,
    ],
    outcome: 'said',
    holds: ['find', 'docs', 'the page'],
  },
  mcp_approval_request: {
    items: [{ type: 'mcp_approval_request', id: 'ma', server_label: 's', name: 'n', arguments: '{}' }],
    outcome: refused(),
  },
  mcp_approval_response: {
    items: [{ type: 'mcp_approval_response', approval_request_id: 'ma', approve: true }],
    outcome: refused(),
  },
};

interface ToolCase {
  readonly tool: JsonObject;
  /** Upstreams with a tool like it may say it all the same. */
  readonly outcome: 'said' | 'lost';
  readonly holds?: readonly string[];
}

/** A tool of each type. Source: OpenAI API reference, "Create a model response", `tools`. */
export const toolCases: Readonly<Record<ToolType, ToolCase>> = {
  function: { tool: { type: 'function', name: 'g', parameters: { type: 'object' } }, outcome: 'said', holds: ['"g"'] },
  custom: { tool: { type: 'custom', name: 'patch' }, outcome: 'said', holds: ['"patch"'] },
  namespace: {
    tool: { type: 'namespace', name: 'space', tools: [{ type: 'custom', name: 'exec' }] },
    outcome: 'said',
    holds: ['"space__exec"'],
  },
  tool_search: {
    tool: {
      type: 'tool_search',
      execution: 'client',
      description: 'Finds tools.',
      parameters: { type: 'object', properties: { words: { type: 'string' } } },
    },
    outcome: 'said',
    holds: ['"tool_search"', 'Finds tools.', 'words'],
  },
  local_shell: { tool: { type: 'local_shell' }, outcome: 'said', holds: ['"local_shell"', '"command"'] },
  shell: { tool: { type: 'shell', environment: { type: 'local' } }, outcome: 'said', holds: ['"shell"', '"commands"'] },
  apply_patch: { tool: { type: 'apply_patch' }, outcome: 'said', holds: ['"apply_patch"', '"diff"'] },
  web_search: { tool: { type: 'web_search', external_web_access: true }, outcome: 'lost' },
  web_search_preview: { tool: { type: 'web_search_preview' }, outcome: 'lost' },
  file_search: { tool: { type: 'file_search', vector_store_ids: ['v'] }, outcome: 'lost' },
  code_interpreter: { tool: { type: 'code_interpreter', container: { type: 'auto' } }, outcome: 'lost' },
  computer: { tool: { type: 'computer' }, outcome: 'lost' },
  computer_use_preview: {
    tool: { type: 'computer_use_preview', display_width: 1, display_height: 1, environment: 'linux' },
    outcome: 'lost',
  },
  image_generation: { tool: { type: 'image_generation' }, outcome: 'lost' },
  mcp: { tool: { type: 'mcp', server_label: 's', server_url: 'https://h' }, outcome: 'lost' },
  programmatic_tool_calling: { tool: { type: 'programmatic_tool_calling' }, outcome: 'lost' },
};
