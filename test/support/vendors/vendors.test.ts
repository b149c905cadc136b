import test from 'ava';
import { chatVendor } from './chat.ts';
import { deepseekVendor } from './deepseek.ts';
import { geminiVendor } from './gemini.ts';
import { groqVendor } from './groq.ts';
import { messagesVendor } from './messages.ts';
import { openrouterVendor } from './openrouter.ts';
import { responsesVendor } from './responses.ts';
import { thought } from './script.ts';

/** The simulated vendors refuse what the originals refuse: a matrix of vendors that take anything would prove nothing. */
const hi = { role: 'user', content: 'Hi.' };
const calling = (id: string, more: object = {}) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
  ...more,
});
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' });
const tools = [{ type: 'function', function: { name: 'f' } }];
const image = { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }] };
const json = { response_format: { type: 'json_object' } };

type Case = readonly [title: string, body: object, complaint: RegExp | undefined];

const chat: readonly Case[] = [
  ['a plain question', { model: 'm', messages: [hi] }, undefined],
  ['a loop', { model: 'm', messages: [hi, calling('c'), result('c')], tools }, undefined],
  ['a choice without tools', { model: 'm', messages: [hi], tool_choice: 'auto' }, /without tools/],
  ['stream options without a stream', { model: 'm', messages: [hi], stream_options: {} }, /without stream/],
  ['a call without its result', { model: 'm', messages: [hi, calling('c'), hi] }, /without a result/],
  ['a result without its call', { model: 'm', messages: [hi, result('c')] }, /unknown call/],
  ['an empty message', { model: 'm', messages: [{ role: 'user', content: '' }] }, /empty/],
];

const asked = { model: 'm', max_tokens: 99, messages: [hi] };
const schema = { type: 'object', properties: {} };
const messages: readonly Case[] = [
  ['a tool', { ...asked, tools: [{ name: 'f', input_schema: schema }] }, undefined],
  ["one of the vendor's own", { ...asked, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, undefined],
  ['a schema of no object', { ...asked, tools: [{ name: 'f', input_schema: {} }] }, /must be object/],
  [
    'a union at the root',
    { ...asked, tools: [{ name: 'f', input_schema: { ...schema, anyOf: [] } }] },
    /at the top level/,
  ],
];

const deepseek: readonly Case[] = [
  [
    'a loop with its reasoning',
    { model: 'm', messages: [hi, calling('c', { reasoning_content: '' }), result('c')] },
    undefined,
  ],
  ['one without', { model: 'm', messages: [hi, calling('c'), result('c')] }, /reasoning_content/],
  [
    'one that does not think',
    { model: 'm', messages: [hi, calling('c'), result('c')], thinking: { type: 'disabled' } },
    undefined,
  ],
  ['another limit', { model: 'm', messages: [hi], max_completion_tokens: 9 }, /unknown field/],
  ['a developer', { model: 'm', messages: [{ role: 'developer', content: 'A' }] }, /developer/],
  ['an image', { model: 'm', messages: [image] }, /image_url/],
  ['an effort of others', { model: 'm', messages: [hi], reasoning_effort: 'medium' }, /reasoning_effort/],
  ['JSON without the word', { model: 'm', messages: [hi], ...json }, /json/],
  [
    'a forced tool of a thinker',
    { model: 'deepseek-chat', messages: [hi], tools, tool_choice: 'required', thinking: { type: 'enabled' } },
    /tool_choice/,
  ],
];

const entry = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 };
const details = [
  { ...entry, text: thought },
  { ...entry, signature: openrouterVendor.payload },
];
const thinking = { reasoning: { effort: 'high' } };
const openrouter: readonly Case[] = [
  [
    'its entries',
    { model: 'm', messages: [hi, calling('c', { reasoning_details: details }), result('c')], ...thinking },
    undefined,
  ],
  ['none of them', { model: 'm', messages: [hi, calling('c'), result('c')], ...thinking }, /Expected `thinking`/],
  [
    'a part of them',
    { model: 'm', messages: [hi, calling('c', { reasoning_details: details.slice(1) }), result('c')] },
    /modified/,
  ],
  ['an effort and a budget', { model: 'm', messages: [hi], reasoning: { effort: 'low', max_tokens: 9 } }, /only one/],
];

const gptOss = 'openai/gpt-oss-120b';
const groq: readonly Case[] = [
  ['a plain question', { model: gptOss, messages: [hi], include_reasoning: true, reasoning_effort: 'low' }, undefined],
  ['a name', { model: gptOss, messages: [{ ...hi, name: 'Ann' }] }, /'name'/],
  ['bias', { model: gptOss, messages: [hi], logit_bias: {} }, /logit_bias/],
  ['an effort of another model', { model: 'llama', messages: [hi], reasoning_effort: 'low' }, /not supported/],
  [
    'both ways of reasoning',
    { model: gptOss, messages: [hi], include_reasoning: true, reasoning_format: 'parsed' },
    /both/,
  ],
  ['tags with tools', { model: 'qwen/qwen3-32b', messages: [hi], reasoning_format: 'raw', tools }, /raw/],
  ['an image', { model: gptOss, messages: [image] }, /string/],
  ['JSON without the word', { model: gptOss, messages: [hi], ...json }, /json/],
];

const user = (...parts: object[]) => ({ role: 'user', parts });
const model = (...parts: object[]) => ({ role: 'model', parts });
const call = (more: object = {}) => ({ functionCall: { name: 'f', args: {} }, ...more });
const response = { functionResponse: { name: 'f', response: { output: 'ok' } } };
const signed = { thoughtSignature: geminiVendor.payload };
const ask = user({ text: 'Hi.' });
const declared = (more: object) => ({ contents: [ask], tools: [{ functionDeclarations: [{ name: 'f', ...more }] }] });
const gemini: readonly Case[] = [
  ['a signed loop', { contents: [ask, model(call(signed), call()), user(response, response)] }, undefined],
  ['an unsigned one', { contents: [ask, model(call()), user(response)] }, /thought_signature/],
  [
    'an unsigned one of the past',
    { contents: [ask, model(call()), user(response), model({ text: 'A' }), ask] },
    undefined,
  ],
  ['a signature of others', { contents: [ask, model(call({ thoughtSignature: 'x' })), user(response)] }, /Corrupted/],
  [
    'too few responses',
    { contents: [ask, model(call(signed), call()), user(response)] },
    /number of function response/,
  ],
  ['responses behind words', { contents: [ask, model(call(signed)), user({ text: 'A' }, response)] }, /order/],
  ['two of one side', { contents: [ask, ask] }, /alternate/],
  ['empty words', { contents: [user({ text: '' })] }, /empty text/],
  ['no parts', { contents: [user()] }, /not be empty/],
  ['a call at the start', { contents: [model(call()), user(response)] }, /after a user turn/],
  ['an unknown keyword', declared({ parameters: { type: 'object', properties: { a: { const: 1 } } } }), /"const"/],
  ['one of JSON Schema', declared({ parametersJsonSchema: { type: 'object', $schema: 'x' } }), /"\$schema"/],
  ['an unknown member', { contents: [ask], max_tokens: 9 }, /"max_tokens"/],
  [
    'level and budget',
    { contents: [ask], generationConfig: { thinkingConfig: { thinkingLevel: 'LOW', thinkingBudget: 1 } } },
    /thinking_level/,
  ],
  ['a choice without tools', { contents: [ask], toolConfig: {} }, /without function/],
];

const reasoning = { type: 'reasoning', summary: [], encrypted_content: responsesVendor.payload };
const made = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
const output = { type: 'function_call_output', call_id: 'c', output: 'ok' };
const responses: readonly Case[] = [
  ['a loop', { model: 'gpt-5', store: false, input: [hi, reasoning, made, output] }, undefined],
  ['reasoning alone', { model: 'gpt-5', store: false, input: [hi, reasoning, hi] }, /required following item/],
  [
    'reasoning of others',
    { model: 'gpt-5', input: [hi, { ...reasoning, encrypted_content: 'x' }, made, output] },
    /verified/,
  ],
  [
    'an unsealed one',
    { model: 'gpt-5', store: false, input: [{ type: 'reasoning', summary: [] }, made, output] },
    /not found/,
  ],
  ['an output without its call', { model: 'gpt-5', input: [hi, output] }, /No tool call found/],
  ['a call without its output', { model: 'gpt-5', input: [hi, made, hi] }, /No tool output found/],
  ['an id of others', { model: 'gpt-5', input: [hi, { ...made, id: 'call_1' }, output] }, /begins with/],
  ['a member of the other protocol', { model: 'gpt-5', input: 'Hi.', max_tokens: 16 }, /max_tokens/],
  ['a small limit', { model: 'gpt-5', input: 'Hi.', max_output_tokens: 9 }, /minimum/],
  ['a temperature', { model: 'gpt-5', input: 'Hi.', temperature: 1 }, /temperature/],
  ['a nested tool', { model: 'gpt-5', input: 'Hi.', tools }, /tools\[0\]/],
];

/** A vendor reads whatever it is sent, so a case may hold anything. */
const registry: Readonly<
  Record<string, readonly [complaint: (body: never, url: string) => string | undefined, readonly Case[]]>
> = {
  messages: [messagesVendor.complaint, messages],
  chat: [chatVendor.complaint, chat],
  deepseek: [deepseekVendor.complaint, deepseek],
  openrouter: [openrouterVendor.complaint, openrouter],
  groq: [groqVendor.complaint, groq],
  gemini: [geminiVendor.complaint, gemini],
  responses: [responsesVendor.complaint, responses],
};

for (const [vendor, [complaint, cases]] of Object.entries(registry)) {
  for (const [title, body, expected] of cases) {
    test(`${vendor}: ${title}`, (t) => {
      const given = complaint(body as never, '/v1beta/models/gemini-3-flash-preview:generateContent');
      if (expected === undefined) t.is(given, undefined);
      else t.regex(given ?? '', expected);
    });
  }
}
