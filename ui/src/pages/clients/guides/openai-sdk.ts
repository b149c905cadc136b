import { baseOf, type ClientGuide } from './client-guide.ts';
import { inJavaScript, inPython } from './key-in-code.ts';
import { assignments, shellLabel, theKey } from './shell.ts';

/** Programs built on OpenAI's SDKs. Source: the SDKs' documentation. */
export const openaiSdk: ClientGuide = {
  name: 'openai-sdk',
  title: 'OpenAI SDKs',
  protocol: 'chat',
  snippets: (connection, shell) => {
    const base = JSON.stringify(baseOf(connection));
    const model = JSON.stringify(connection.model);
    return [
      {
        label: shellLabel[shell],
        text: assignments(shell, connection.wantsKey, [
          ['OPENAI_BASE_URL', baseOf(connection)],
          ['OPENAI_API_KEY', theKey],
        ]),
      },
      {
        label: 'Python',
        text: `${inPython(connection).head}from openai import OpenAI

client = OpenAI(base_url=${base}, api_key=${inPython(connection).key}, timeout=600)
answer = client.chat.completions.create(
    model=${model},
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
      },
      {
        label: 'JavaScript',
        text: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${base}, apiKey: ${inJavaScript(connection)}, timeout: 600_000 });
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
