import test from 'ava';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { ScriptedUpstream } from '../support/upstreams/upstream.ts';
import { chatVendor } from '../support/vendors/chat.ts';
import { deepseekVendor } from '../support/vendors/deepseek.ts';
import { geminiVendor } from '../support/vendors/gemini.ts';
import { groqVendor } from '../support/vendors/groq.ts';
import { messagesVendor } from '../support/vendors/messages.ts';
import { openrouterVendor } from '../support/vendors/openrouter.ts';
import { responsesVendor } from '../support/vendors/responses.ts';
import { serveVendor } from '../support/vendors/serve-vendor.ts';

/** A provider of each upstream format. */
const rows = {
  anthropic: {
    serve: () => serveVendor(messagesVendor, 'key'),
    format: { name: 'anthropic' },
    model: 'claude-sonnet-4-5',
  },
  responses: {
    serve: () => serveVendor(responsesVendor, 'key'),
    format: { name: 'openai', options: { api: 'responses' } },
    model: 'gpt-5.1',
  },
  openrouter: {
    serve: () => serveVendor(openrouterVendor, 'key'),
    format: { name: 'openrouter' },
    base: '/api/v1',
    model: 'anthropic/claude-sonnet-4.5',
  },
  gemini: {
    serve: () => serveVendor(geminiVendor, 'key'),
    format: { name: 'gemini' },
    model: 'gemini-3-flash-preview',
  },
  deepseek: {
    serve: () => serveVendor(deepseekVendor, 'key'),
    format: { name: 'deepseek' },
    model: 'deepseek-v4-flash',
  },
  groq: {
    serve: () => serveVendor(groqVendor, 'key'),
    format: { name: 'groq' },
    base: '/openai/v1',
    model: 'openai/gpt-oss-120b',
  },
  openai: { serve: () => serveVendor(chatVendor, 'key'), format: { name: 'openai' }, model: 'model-x' },
} as const;

const names = Object.entries(rows).map(([name, { model }]) => `${name},${model}`);

let gateway: TestGateway;
let vendors: readonly ScriptedUpstream[] = [];

test.before(async () => {
  vendors = await Promise.all(Object.values(rows).map(({ serve }) => serve()));
  gateway = await startGateway({
    LOG: false,
    Providers: Object.entries(rows).map(([name, row], index) => ({
      name,
      baseUrl: `${vendors[index]?.url}${'base' in row ? row.base : ''}`,
      apiKey: 'key',
      models: [row.model],
    })),
    transformers: Object.entries(rows).map(([provider, { format }]) => ({ ...format, provider })),
  });
});

test.after.always('stop', async () => {
  await gateway?.stop();
  await Promise.all(vendors.map((vendor) => vendor.close()));
});

type Item = OpenAI.Responses.ResponseInputItem;

const tools: OpenAI.Responses.FunctionTool[] = [
  {
    type: 'function',
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    strict: false,
  },
];

/** A conversation of the SDK's WebSocket client, which sends what is new alone. */
class Conversation {
  readonly #socket: ResponsesWS;
  #last: string | undefined;

  constructor() {
    this.#socket = new ResponsesWS(new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: 'client-key' }));
  }

  async send(
    model: string,
    input: Item[],
    more: { readonly generate?: boolean } = {},
  ): Promise<OpenAI.Responses.Response> {
    const answered = new Promise<OpenAI.Responses.Response>((resolve, reject) => {
      const take = (event: OpenAI.Responses.ResponsesServerEvent): void => {
        if (event.type !== 'response.completed') return;
        this.#socket.off('event', take);
        resolve(event.response);
      };
      this.#socket.on('event', take);
      this.#socket.on('error', reject);
    });
    this.#socket.send({
      type: 'response.create',
      model,
      input,
      tools,
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'medium', summary: 'auto' },
      ...(this.#last && { previous_response_id: this.#last }),
      ...more,
    });
    const response = await answered;
    this.#last = response.id;
    return response;
  }

  close(): void {
    this.#socket.close();
  }
}

const textOf = ({ output }: OpenAI.Responses.Response): string =>
  output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('');

const callsOf = ({ output }: OpenAI.Responses.Response) =>
  output.flatMap((item) => (item.type === 'function_call' ? [item] : []));

for (const [index, first] of names.entries()) {
  test(`the SDK's WebSocket client: ${first}, and another model in the middle of a tool loop`, async (t) => {
    const second = names[(index + 1) % names.length] ?? '';
    const conversation = new Conversation();
    t.teardown(() => conversation.close());
    t.deepEqual((await conversation.send(first, [], { generate: false })).output, [], 'a warm-up');
    for (const [asked, given] of [
      [first, first],
      [first, second],
      [second, first],
    ] as const) {
      const question = await conversation.send(asked, [{ role: 'user', content: 'think and use the tool' }]);
      const [call, ...others] = callsOf(question);
      t.deepEqual([others, question.usage !== undefined], [[], true]);
      const answer = await conversation.send(given, [
        { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'sunny' },
      ]);
      t.is(textOf(answer), 'The tools said: sunny', `${asked}, then ${given}`);
    }
  });
}
