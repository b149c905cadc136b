import test from 'ava';
import { isJsonObject, type Json, type JsonObject } from '../../../../engine/model/json/json.ts';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { until } from '../../../support/until.ts';
import { jsonAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

/** What a vendor signs or says in its answer of this number, counted from 0. */
const thought = (number: number): string => `the-reasoning-of-answer-${number}-${'x'.repeat(60)}`;

/** A vendor whose model calls a tool in each answer, and needs its reasoning back. */
interface Vendor {
  readonly format: JsonObject;
  readonly answer: (number: number) => JsonObject;
}

const args = (number: number): JsonObject => ({ number });

const vendors: Readonly<Record<string, Vendor>> = {
  gemini: {
    format: { name: 'gemini' },
    answer: (number) => ({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [{ functionCall: { name: 'f', args: args(number) }, thoughtSignature: thought(number) }],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 9, totalTokenCount: 18 },
      modelVersion: 'm',
      responseId: `r${number}`,
    }),
  },
  deepseek: {
    format: { name: 'deepseek' },
    answer: (number) => ({
      id: `c${number}`,
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            reasoning_content: thought(number),
            tool_calls: [
              {
                id: `call_${number}`,
                type: 'function',
                function: { name: 'f', arguments: JSON.stringify(args(number)) },
              },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  },
  anthropic: {
    format: { name: 'anthropic' },
    answer: (number) => ({
      id: `msg_${number}`,
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: thought(number) },
        { type: 'tool_use', id: `toolu_${number}`, name: 'f', input: args(number) },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  },
  responses: {
    format: { name: 'openai', options: { api: 'responses' } },
    answer: (number) => ({
      id: `resp_${number}`,
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'm',
      output: [
        { type: 'reasoning', id: `rs_${number}`, summary: [], encrypted_content: thought(number) },
        {
          type: 'function_call',
          id: `fc_${number}`,
          call_id: `call_${number}`,
          name: 'f',
          arguments: JSON.stringify(args(number)),
          status: 'completed',
        },
      ],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    }),
  },
};

const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }];

const callsIn = (message: JsonObject): readonly JsonObject[] =>
  Array.isArray(message.tool_calls) ? message.tool_calls.filter(isJsonObject) : [];

/** What a chat client keeps that knows no reasoning. */
const forgetful = ({ role, content, tool_calls }: JsonObject): JsonObject => ({ role, content, tool_calls });

const rounds = 3;

for (const workers of [1, 2]) {
  test(`with ${workers} workers, a restart between any two turns loses no reasoning`, async (t) => {
    t.timeout(300_000);
    const answered = new Map<string, number>();
    const upstream = await startUpstream(({ url }) => {
      const name = url.split('/')[1] ?? '';
      const number = answered.get(name) ?? 0;
      answered.set(name, number + 1);
      return jsonAnswer(vendors[name]?.answer(number) ?? {});
    });
    t.teardown(() => upstream.close());
    const names = Object.keys(vendors);
    const rig = await commandRig(t, {
      WORKERS: workers,
      Providers: names.map((name) => ({ name, baseUrl: `${upstream.url}/${name}`, apiKey: 'k', models: ['m'] })),
      transformers: names.map((name) => ({ ...vendors[name]?.format, provider: name })),
    });
    const started = await rig.ask(['start', '--daemon']);
    t.is(started.code, 0, started.err);
    const baseUrl = addressIn(started.out);
    const pids = async (): Promise<string> => {
      const service = await (await fetch(`${baseUrl}/api/service`)).json();
      return JSON.stringify(isJsonObject(service) ? service.workers : undefined);
    };
    const talks = new Map<string, Json[]>(names.map((name) => [name, [{ role: 'user', content: `Go, ${name}.` }]]));
    for (let round = 0; round <= rounds; round += 1) {
      for (const [name, messages] of talks) {
        const answer = await fetch(`${baseUrl}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: `${name},m`, messages, tools, reasoning_effort: 'high' }),
        });
        const text = await answer.text();
        t.is(answer.status, 200, text);
        const sent = upstream.requests.at(-1)?.text ?? '';
        for (let earlier = 0; earlier < round; earlier += 1) {
          t.true(sent.includes(thought(earlier)), `${name}, round ${round}: reasoning ${earlier} in ${sent}`);
        }
        const { message } = JSON.parse(text).choices[0];
        messages.push(forgetful(message));
        for (const { id } of callsIn(message)) messages.push({ role: 'tool', tool_call_id: id ?? '', content: 'ok' });
      }
      const before = await pids();
      const restarted = await fetch(`${baseUrl}/api/restart`, { method: 'POST' });
      t.is(restarted.status, 200, await restarted.text());
      await until(async () => (await pids()) !== before);
    }
  });
}
