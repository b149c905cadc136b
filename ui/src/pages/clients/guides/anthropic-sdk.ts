import type { ClientGuide } from './client-guide.ts';
import { inJavaScript, inPython } from './key-in-code.ts';
import { assignments, shellLabel, theKey } from './shell.ts';

/** Programs built on Anthropic's SDKs. Source: the SDKs' documentation. */
export const anthropicSdk: ClientGuide = {
  name: 'anthropic-sdk',
  title: 'Anthropic SDKs',
  protocol: 'messages',
  appendsVersion: true,
  headers: { 'anthropic-version': '2023-06-01' },
  snippets: (connection, shell) => {
    const base = JSON.stringify(connection.origin);
    const model = JSON.stringify(connection.model);
    return [
      {
        label: shellLabel[shell],
        text: assignments(shell, connection.wantsKey, [
          ['ANTHROPIC_BASE_URL', connection.origin],
          ['ANTHROPIC_API_KEY', theKey],
        ]),
      },
      {
        label: 'Python',
        text: `${inPython(connection).head}from anthropic import Anthropic

client = Anthropic(base_url=${base}, api_key=${inPython(connection).key})
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

const client = new Anthropic({ baseURL: ${base}, apiKey: ${inJavaScript(connection)} });
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
