import { shellQuoted } from './shell.ts';
import { type Access, type ClientTool, clientKeyVariable, keyReference, readsKey, type Shell } from './tool.ts';

/** Code that reads the key: Python's first line and an expression, and JavaScript's expression. */
const keyIn = (access: Access) =>
  readsKey(access)
    ? {
        head: 'import os\n',
        python: `os.environ["${clientKeyVariable}"]`,
        javaScript: `process.env.${clientKeyVariable}`,
      }
    : { head: '', python: JSON.stringify(access.apiKey), javaScript: JSON.stringify(access.apiKey) };

/** Programs built on OpenAI's SDKs, which append paths below `/v1`. Source: the SDKs' documentation. */
export const openai: ClientTool = {
  name: 'openai',
  title: 'OpenAI SDKs',
  protocol: 'chat',
  commands: [],
  variables: ({ baseUrl, apiKey }) => ({
    OPENAI_BASE_URL: `${baseUrl}/v1`,
    // Legacy name; some programs still read it.
    OPENAI_API_BASE: `${baseUrl}/v1`,
    OPENAI_API_KEY: apiKey,
  }),
  examples: (access) => {
    const [base, model] = [JSON.stringify(`${access.baseUrl}/v1`), JSON.stringify(access.model)];
    const { head, python, javaScript } = keyIn(access);
    return [
      {
        label: 'Python',
        text: `${head}from openai import OpenAI

client = OpenAI(base_url=${base}, api_key=${python}, timeout=600)
answer = client.chat.completions.create(
    model=${model},
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
      },
      {
        label: 'JavaScript',
        text: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${base}, apiKey: ${javaScript}, timeout: 600_000 });
const answer = await client.responses.create({ model: ${model}, input: 'Hello!' });
console.log(answer.output_text);`,
      },
    ];
  },
  notes: [
    'Both `chat.completions` and `responses` work, with and without streaming.',
    'The SDKs retry after 408, 409, 429 and 5xx. The provider’s `retry-after` is passed on.',
  ],
};

/** Programs built on Anthropic's SDKs, which append `/v1` themselves. Source: the SDKs' documentation. */
export const anthropic: ClientTool = {
  name: 'anthropic',
  title: 'Anthropic SDKs',
  protocol: 'messages',
  commands: [],
  appendsVersion: true,
  headers: { 'anthropic-version': '2023-06-01' },
  variables: ({ baseUrl, apiKey }) => ({ ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_API_KEY: apiKey }),
  examples: (access) => {
    const [base, model] = [JSON.stringify(access.baseUrl), JSON.stringify(access.model)];
    const { head, python, javaScript } = keyIn(access);
    return [
      {
        label: 'Python',
        text: `${head}from anthropic import Anthropic

client = Anthropic(base_url=${base}, api_key=${python})
message = client.messages.create(
    model=${model},
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(message.content[0].text)`,
      },
      {
        label: 'JavaScript',
        text: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: ${base}, apiKey: ${javaScript} });
const message = await client.messages.create({
  model: ${model},
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(message.content);`,
      },
    ];
  },
  notes: [
    'The SDK appends `/v1` itself. With `/v1` in the base URL, requests go to `/v1/v1/messages` and fail with 404.',
    'Stream long responses: without streaming, the SDK times out after ten minutes.',
  ],
};

const program = (access: Access): string =>
  [
    "import { createOpenAICompatible } from '@ai-sdk/openai-compatible';",
    "import { streamText } from 'ai';",
    '',
    'const junctor = createOpenAICompatible({',
    "  name: 'junctor',",
    `  baseURL: ${JSON.stringify(`${access.baseUrl}/v1`)},`,
    `  apiKey: ${keyIn(access).javaScript},`,
    '  includeUsage: true,',
    '});',
    `const model = junctor(${JSON.stringify(access.model)});`,
    "const { textStream } = streamText({ model, prompt: 'Hello!' });",
    'for await (const text of textStream) process.stdout.write(text);',
  ].join('\n');

/** The Vercel AI SDK. Source: its documentation, "OpenAI Compatible Providers". */
export const aiSdk: ClientTool = {
  name: 'ai-sdk',
  title: 'Vercel AI SDK',
  protocol: 'chat',
  commands: [],
  examples: (access) => [
    {
      label: 'JavaScript',
      text: program(access),
    },
  ],
  notes: [
    '`createOpenAI` and `createAnthropic` from the same SDK take the same base URL, including `/v1`. `createOpenAI` uses the Responses API by default.',
  ],
};

const calls = (model: string) =>
  [
    [
      'Messages',
      '/v1/messages',
      { model, stream: true, max_tokens: 256, messages: [{ role: 'user', content: 'Hello!' }] },
    ],
    [
      'Chat Completions',
      '/v1/chat/completions',
      { model, stream: true, messages: [{ role: 'user', content: 'Hello!' }] },
    ],
    ['Responses', '/v1/responses', { model, stream: true, input: 'Hello!' }],
  ] as const;

/** Any program that speaks HTTP. */
export const curl: ClientTool = {
  name: 'curl',
  title: 'curl',
  protocol: 'messages',
  commands: [],
  examples: (access, shell) =>
    calls(access.model).map(([label, path, body]) => ({
      label,
      text: [
        `${programs[shell]} -N ${access.baseUrl}${path}`,
        "  -H 'content-type: application/json'",
        ...(readsKey(access) ? [`  -H "authorization: Bearer ${keys[shell]}"`] : []),
        `  -d ${shellQuoted[shell](JSON.stringify(body))}`,
      ].join(` ${shell === 'powershell' ? '`' : '\\'}\n`),
    })),
  notes: [
    'The key can also be sent in the `x-api-key` header.',
    'With `-i`, curl also prints `x-junctor-route`, which names the provider and model.',
  ],
};

/** In Windows PowerShell, `curl` is an alias of another command. */
const programs: Readonly<Record<Shell, string>> = { posix: 'curl', fish: 'curl', powershell: 'curl.exe' };
const keys: Readonly<Record<Shell, string>> = {
  posix: keyReference,
  fish: keyReference,
  powershell: `$env:${clientKeyVariable}`,
};
