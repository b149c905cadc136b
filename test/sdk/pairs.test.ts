import test from 'ava';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { chatSdk, type Learnt, messagesSdk, responsesSdk, type SdkClient } from '../support/sdk-clients.ts';
import type { ScriptedUpstream } from '../support/upstream.ts';
import { chatVendor } from '../support/vendors/chat.ts';
import { messagesVendor } from '../support/vendors/messages.ts';
import { counts, hello, thought } from '../support/vendors/script.ts';
import { serveVendor } from '../support/vendors/serve-vendor.ts';

/** The real SDKs through the gateway to vendors as strict as the originals: every pair, streamed and not. */
const clients: Readonly<Record<string, { readonly sdk: SdkClient; readonly end: string; readonly tool: string }>> = {
  messages: { sdk: messagesSdk, end: 'end_turn', tool: 'tool_use' },
  chat: { sdk: chatSdk, end: 'stop', tool: 'tool_calls' },
  responses: { sdk: responsesSdk, end: 'completed', tool: 'completed' },
};

let gateway: TestGateway;
let vendors: Readonly<Record<string, ScriptedUpstream>>;

test.before(async () => {
  vendors = { anthropic: await serveVendor(messagesVendor), openai: await serveVendor(chatVendor) };
  gateway = await startGateway({
    LOG: false,
    Providers: Object.entries(vendors).map(([name, { url }]) => ({
      name,
      baseUrl: url,
      apiKey: `${name}-key`,
      models: ['model-x'],
    })),
    transformers: Object.keys(vendors).map((name) => ({ name, provider: name })),
  });
});

test.after('the upstream gets its own key and never the client’s', (t) => {
  for (const [name, vendor] of Object.entries(vendors)) {
    t.true(vendor.requests.length > 0);
    for (const { headers, text } of vendor.requests) {
      t.true([headers.authorization, headers['x-api-key']].join().includes(`${name}-key`));
      t.false(JSON.stringify(headers).includes('client-key') || text.includes('client-key'));
    }
  }
});

test.after.always('stop', async () => {
  await gateway?.stop();
  await Promise.all(Object.values(vendors ?? {}).map((vendor) => vendor.close()));
});

const usage = { prompt: counts.prompt, cached: counts.cached, output: counts.output, reasoning: counts.reasoning };
const calls: Learnt['calls'] = [
  { id: 'call_one', name: 'get_weather', input: { city: 'Łódź' } },
  { id: 'call_two', name: 'get_time', input: { city: 'São "Paulo"' } },
];
const tools = ['get_weather', 'get_time'];

for (const [client, { sdk, end, tool }] of Object.entries(clients)) {
  for (const upstream of ['anthropic', 'openai']) {
    for (const stream of [false, true]) {
      const pair = `${client} → ${upstream}, ${stream ? 'streamed' : 'whole'}`;
      const talk = () => sdk(gateway.baseUrl, `${upstream},model-x`);

      test(`${pair}: text and usage`, async (t) => {
        const learnt = await talk().ask({ text: 'say hello', stream });
        t.like(learnt, { text: hello, reasoning: '', calls: [], stop: end, model: 'model-x-0001', usage });
      });

      test(`${pair}: one tool, and its result`, async (t) => {
        const conversation = talk();
        const asked = await conversation.ask({ text: 'use the tool', stream, tools });
        t.like(asked, { text: 'Wait.', calls: calls.slice(0, 1), stop: tool });
        const told = await conversation.give(['sunny ☀'], { text: '', stream, tools });
        t.like(told, { text: 'The tools said: sunny ☀', calls: [], stop: end });
      });

      test(`${pair}: parallel tools, and their results`, async (t) => {
        const conversation = talk();
        const asked = await conversation.ask({ text: 'use both tools', stream, tools });
        t.like(asked, { text: '', calls, stop: tool });
        const told = await conversation.give(['sunny', 'noon'], { text: '', stream, tools });
        t.like(told, { text: 'The tools said: sunny | noon', stop: end });
        const again = await conversation.ask({ text: 'say hello', stream, tools });
        t.like(again, { text: hello, stop: end });
      });

      test(`${pair}: reasoning, and a second turn`, async (t) => {
        const conversation = talk();
        const first = await conversation.ask({ text: 'think and say hello', stream, think: true });
        t.like(first, { text: hello, reasoning: thought, stop: end });
        const second = await conversation.ask({ text: 'think again', stream, think: true });
        t.like(second, { text: hello, reasoning: thought, stop: end });
      });

      test(`${pair}: reasoning before a tool call, and its result`, async (t) => {
        const conversation = talk();
        const asked = await conversation.ask({ text: 'think and use the tool', stream, tools, think: true });
        t.like(asked, { text: 'Wait.', reasoning: thought, calls: calls.slice(0, 1), stop: tool });
        const told = await conversation.give(['sunny'], { text: '', stream, tools, think: true });
        t.like(told, { text: 'The tools said: sunny', stop: end });
      });

      test(`${pair}: an image`, async (t) => {
        const learnt = await talk().ask({ text: 'look', stream, image: true });
        t.like(learnt, { text: 'I see image/png.', stop: end });
      });
    }
  }
}
