import test from 'ava';
import { request } from 'undici';
import { startGateway } from '../../../support/gateway.ts';
import { chatReply } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

const question = 'Is it hard?';
const said = '{"answer":"yes"}';
const choice = { answers: ['low', 'mid', 'high'], answer: 'high' };
const usage = { input_tokens: 40, output_tokens: 0 };

interface Row {
  /** The end of the provider's base URL, and where the question arrives. */
  readonly base: string;
  readonly path?: string;
  readonly use?: string | readonly [string, object];
  readonly decides?: object;
  readonly reply: object;
  readonly status?: number;
  /** What is sent, in part. */
  readonly sent?: object;
  /** The reason of the route; absent: without an answer. */
  readonly says?: string;
}

const predicate = { type: 'predicate', name: 'decision', instructions: question };
const noul = { type: 'noul', instructions: question };
const decidedAs = (...answers: readonly object[]) => ({ model: 'd-1', answers, usage });
const stated = (answer: object) => ({ model: 'd-1', answers: { decision: answer }, usage });

const rows: Readonly<Record<string, Row>> = {
  'Chat Completions without logprobs': { base: '', reply: chatReply(said), says: '"yes" to' },
  Responses: {
    base: '',
    use: ['openai', { api: 'responses' }],
    path: '/v1/responses',
    reply: {
      ...{ id: 'r', object: 'response', created_at: 1, status: 'completed', model: 'd' },
      output: [
        {
          ...{ id: 'm', type: 'message', role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: said, annotations: [] }],
        },
      ],
      usage: { ...usage, total_tokens: 40 },
    },
    sent: { text: { format: { type: 'json_schema' } } },
    says: '"yes" to',
  },
  Messages: {
    base: '',
    use: 'anthropic',
    path: '/v1/messages',
    reply: {
      ...{ id: 'm', type: 'message', role: 'assistant', model: 'd', stop_reason: 'end_turn', stop_sequence: null },
      content: [{ type: 'text', text: said }],
      usage,
    },
    says: '"yes" to',
  },
  Gemini: {
    base: '',
    use: 'gemini',
    path: '/v1beta/models/d:generateContent',
    reply: {
      candidates: [{ content: { role: 'model', parts: [{ text: said }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 4 },
    },
    says: '"yes" to',
  },
  'Decisions: yes or no': {
    base: '/v1/decisions',
    path: '/v1/decisions',
    decides: { atLeast: 0.9 },
    reply: decidedAs({ type: 'predicate', name: 'decision', probability: 0.93 }),
    sent: { model: 'd', input: 'the text', questions: [predicate] },
    says: '"yes" (0.93) to',
  },
  'Decisions: a choice': {
    base: '/v1/decisions',
    decides: { ...choice, atLeast: 0.3 },
    reply: decidedAs({
      ...{ type: 'choice', name: 'decision', choice: 'mid', confidence: 0.4 },
      probabilities: [
        { value: 'mid', probability: 0.6 },
        { value: 'high', probability: 0.35 },
        { value: true, probability: 0.05 },
      ],
    }),
    sent: {
      questions: [{ type: 'choice', choices: [{ value: 'low' }, { value: 'mid' }, { value: 'high' }] }],
    },
    says: '"high" (0.35) to',
  },
  'Decisions: a refusal': {
    base: '/v1/decisions',
    reply: decidedAs({ type: 'refusal', name: 'decision' }),
  },
  'Decisions: another answer': {
    base: '/v1/decisions',
    decides: choice,
    reply: decidedAs({ type: 'choice', choice: 'higher', confidence: 1, probabilities: [] }),
  },
  'Decisions: nonsense': { base: '/v1/decisions', reply: { answers: [{ type: 'predicate', probability: 7 }] } },
  'Decisions: an error': {
    base: '/v1/decisions',
    status: 400,
    reply: { error: { message: 'no such model', type: 'invalid_request_error' } },
  },
  'System One: yes or no': {
    base: '/v1/systemone',
    path: '/v1/systemone',
    decides: { answer: 'no', atLeast: 0.7 },
    reply: stated({ type: 'noul', noul: 0.25 }),
    sent: { model: 'd', state: 'the text', questions: { decision: noul } },
    says: '"no" (0.75) to',
  },
  'System One: a choice, at a router': {
    base: '/api/v1/systemone',
    path: '/api/v1/systemone',
    decides: choice,
    reply: {
      ...stated({ type: 'choice', choice: 'high', confidence: 0.8, probabilities: { high: 0.9, low: 0.1 } }),
      ...{ id: 'gen-1', provider: 'TypeSafe', usage: { ...usage, cost: 0.000013 } },
    },
    sent: { questions: { decision: { type: 'choice', criteria: { low: null, mid: null, high: null } } } },
    says: '"high" (0.90) to',
  },
  'System One, by an entry': {
    base: '',
    use: ['decision-models', { api: 'systemone' }],
    path: '/v1/systemone',
    reply: stated({ type: 'noul', noul: 0.5 }),
    says: '"yes" (0.50) to',
  },
  'System One: an error': { base: '/v1/systemone', status: 403, reply: { detail: 'Not authenticated' } },
};

for (const [name, { base, path, use, decides = {}, reply, status = 200, sent, says }] of Object.entries(rows)) {
  test(`a decision over ${name}`, async (t) => {
    const upstream = await startUpstream(({ body }) =>
      Object(body).model === 'strong' ? jsonAnswer(chatReply('hello')) : jsonAnswer(reply, status),
    );
    const judge = { name: 'judge', baseUrl: `${upstream.url}${base}`, apiKey: 'k', models: ['d'] };
    const gateway = await startGateway({
      LOG: false,
      RETRY: { attempts: 0 },
      Providers: [
        { ...judge, ...(use !== undefined && { transformer: { use: [use] } }) },
        { name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['strong'] },
      ],
      Router: {
        default: 'p,strong',
        rules: [
          {
            name: 'hard',
            when: { decides: { ask: 'judge,d', question, limitMs: 60_000, ...decides } },
            to: 'p,strong',
          },
        ],
      },
    });
    t.teardown(async () => {
      await gateway.stop();
      await upstream.close();
    });
    const answer = await request(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'the text' }] }),
    });
    await answer.body.dump();
    const listed = await request(`${gateway.baseUrl}/api/requests`);
    const { requests } = Object(await listed.body.json());
    const own = requests.find((one: { readonly cause?: object }) => !one.cause);
    t.is(own.reason.startsWith('rule/hard'), says !== undefined, own.reason);
    if (says !== undefined) t.true(own.reason.includes(`judge,d says ${says}`), own.reason);
    const asked = upstream.requests.find(({ body }) => Object(body).model !== 'strong');
    if (path !== undefined) t.is(asked?.url, path);
    if (sent) t.like(asked?.body, sent);
  });
}

test('a decision model answers questions alone', async (t) => {
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'judge', baseUrl: 'http://127.0.0.1:9/v1/decisions', apiKey: 'k', models: ['d'] }],
  });
  t.teardown(() => gateway.stop());
  const answer = await request(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'judge,d', messages: [{ role: 'user', content: 'hello' }] }),
  });
  const { error } = Object(await answer.body.json());
  t.is(answer.statusCode, 400);
  t.regex(error.message, /answers questions of conditions and stages alone/);
});
