import { baseOf, type ClientGuide, type Connection } from './client-guide.ts';
import { inJavaScript } from './key-in-code.ts';

const program = (connection: Connection): string =>
  [
    "import { createOpenAICompatible } from '@ai-sdk/openai-compatible';",
    "import { streamText } from 'ai';",
    '',
    'const junctor = createOpenAICompatible({',
    "  name: 'junctor',",
    `  baseURL: ${JSON.stringify(baseOf(connection))},`,
    `  apiKey: ${inJavaScript(connection)},`,
    '  includeUsage: true,',
    '});',
    `const model = junctor(${JSON.stringify(connection.model)});`,
    "const { textStream } = streamText({ model, prompt: 'Hello!' });",
    'for await (const text of textStream) process.stdout.write(text);',
  ].join('\n');

/** The Vercel AI SDK. Source: its documentation, "OpenAI Compatible Providers". */
export const aiSdk: ClientGuide = {
  name: 'ai-sdk',
  title: 'Vercel AI SDK',
  protocol: 'chat',
  snippets: (connection) => [
    {
      label: 'JavaScript',
      text: program(connection),
    },
  ],
  notes: [
    '`createOpenAI` and `createAnthropic` from the same SDK take the same base URL, including `/v1`. `createOpenAI` uses the Responses API by default.',
  ],
};
