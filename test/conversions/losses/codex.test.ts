import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { Losses, lossRank } from '../../../engine/model/loss.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { lossHeader } from '../../../engine/operators/write-reply.ts';
import { responsesClient } from '../../../protocols/responses/index.ts';
import { upstreamOf } from '../../transformers/formats/rig.ts';

const message = (role: string, text: string, more: object = {}) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
  ...more,
});
const declared = (name: string) => ({
  type: 'function',
  name,
  description: `Does ${name}.`,
  strict: false,
  parameters: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
});
const call = (id: string, name: string, more: object = {}) => [
  { type: 'function_call', call_id: id, name, arguments: '{"a":"ls"}', ...more },
  { type: 'function_call_output', call_id: id, output: 'ok' },
];

/** A third request of Codex 0.171 as it was recorded, with short texts: members, tools, and an id on every item. */
const codex: JsonObject = {
  stream: true,
  store: false,
  tool_choice: 'auto',
  parallel_tool_calls: true,
  input: [
    message('developer', 'one'),
    message('developer', 'two'),
    message('user', '<environment_context/>'),
    message('user', 'Do it.'),
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: null },
    message('assistant', 'I look.', { phase: 'commentary' }),
    ...call('c1', 'exec_command'),
    ...call('c2', 'noargs', { namespace: 'mcp__demo' }),
    { type: 'custom_tool_call', call_id: 'c3', name: 'apply_patch', input: '*** Begin Patch', status: 'completed' },
    { type: 'custom_tool_call_output', call_id: 'c3', output: 'done' },
    message('user', 'Go on.'),
  ].map((item, at) => ({ ...item, id: `item_${at}` })),
  tools: [
    ...['exec_command', 'write_stdin', 'view_image'].map(declared),
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Patches.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
    },
    { type: 'namespace', name: 'mcp__demo', description: 'A server.', tools: [declared('noargs')] },
    { type: 'web_search', external_web_access: true, search_content_types: ['text'] },
  ],
  reasoning: { effort: 'medium', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'thread',
  text: { verbosity: 'low' },
  client_metadata: { session_id: 's', thread_id: 't', root_turn_id: 'r' },
};

const search = ['tools[5].external_web_access', 'tools[5].search_content_types'];

/** What the header tells at each upstream, heaviest first. */
const rows: readonly (readonly [
  format: string,
  model: string,
  dropped: readonly string[],
  approximated: readonly string[],
])[] = [
  ['openai', 'anything-9', ['tools[5]', 'verbosity'], ['tools[3]']],
  ['groq', 'openai/gpt-oss-120b', ['tools[5]', 'verbosity'], ['tools[3]']],
  [
    'deepseek',
    'deepseek-flash',
    ['tools[5]', 'verbosity'],
    ['tools[3]', 'input[].reasoning_content*2', 'reasoning.effort'],
  ],
  ['openrouter', 'z-ai/glm-5.3', search, ['tools[3]']],
  ['anthropic', 'claude-opus-5-5', ['input[4]', ...search, 'verbosity'], ['tools[3]']],
  ['gemini', 'gemini-3.8-flash', ['input[4]', ...search, 'verbosity'], ['tools[3]', 'input[].thought_signature*3']],
];

for (const [format, model, dropped, approximated] of rows) {
  test(`a request of Codex to ${format}: what changes nothing is in the record alone`, (t) => {
    const losses = new Losses(format);
    const request = responsesClient.decodeRequest({ ...codex, model });
    upstreamOf(format, model, 'responses').encodeRequest(request, {
      names: new ToolNames(),
      losses,
      replyIsRelayed: false,
      client: 'responses',
    });
    const header = `dropped: ${dropped.join(', ')}; approximated: ${approximated.join(', ')}`;
    t.is(lossHeader(losses.list), header);
    const light = losses.list.filter((loss) => lossRank(loss) === 2).map(({ path }) => path);
    t.true(light.includes('client_metadata.root_turn_id'), light.join());
    t.false(
      losses.list.some(({ path }) => /\.id$/.test(path)),
      'an id that means nothing is no loss',
    );
  });
}
