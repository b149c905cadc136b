import test from 'ava';
import { request } from 'undici';
import { startGateway } from '../../../support/gateway.ts';
import { chatReply } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type Reaction, startUpstream } from '../../../support/upstreams/upstream.ts';

const module = `import { answer, transformer } from 'junctor/transformer';
export default transformer({ name: 'guard', async around(request, next, context, options) {
  try {
    return answer(JSON.stringify(await context.decide(options.to ?? 'p,m', { question: 'Is it safe?', about: 'rm -rf /', ...options })));
  } catch (error) { return answer(error.message); }
} });`;

const logprobs = {
  content: ['{"answer":"', 'no', '"}'].map((token) => ({
    token,
    logprob: token === 'no' ? Math.log(0.75) : 0,
    top_logprobs: token === 'no' ? [{ token: 'yes', logprob: Math.log(0.25) }] : [],
  })),
};

const withLogprobs = (text: string): Reaction => {
  const reply = chatReply(text);
  return jsonAnswer({ ...reply, choices: [{ ...Object(reply).choices[0], logprobs }] });
};

const cases: Readonly<
  Record<
    string,
    { readonly options?: object; readonly model?: string; readonly answer?: Reaction; readonly says: RegExp }
  >
> = {
  'with its probability': {
    answer: withLogprobs('{"answer":"no"}'),
    says: /^\{"answer":"no","probability":0\.75,"probabilities":\{"yes":0\.25,"no":0\.75\},.*"route":"p,m"\}$/,
  },
  'without one': { answer: jsonAnswer(chatReply('{"answer":"no"}')), says: /^\{"answer":"no","usage"/ },
  'other answers': {
    options: { answers: ['harmless', 'risky'] },
    answer: jsonAnswer(chatReply('Risky')),
    says: /^\{"answer":"risky"/,
  },
  'none of the answers': {
    answer: jsonAnswer(chatReply('perhaps')),
    says: /decide\("p,m"\): the answer is none of "yes", "no"/,
  },
  'no leave': { options: { to: 'p,x' }, says: /decide\("p,x"\): has no leave/ },
  'no question': { options: { question: '' }, says: /`question` must be a text/ },
  'a failure': { answer: jsonAnswer({ error: { message: 'broken' } }, 500), says: /decide\("p,m"\): .*broken/ },
};

for (const [name, { options = {}, answer, says }] of Object.entries(cases)) {
  test(`a stage's decision: ${name}`, async (t) => {
    const upstream = await startUpstream(() => answer ?? jsonAnswer(chatReply('no')));
    const gateway = await startGateway(
      {
        LOG: false,
        RETRY: { attempts: 0 },
        Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
        transformers: [{ path: 'guard.ts', ask: ['p,m'], options }],
      },
      {},
      { files: { 'guard.ts': module } },
    );
    t.teardown(async () => {
      await gateway.stop();
      await upstream.close();
    });
    const reply = await request(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'p,m', messages: [{ role: 'user', content: 'x' }] }),
    });
    const body = Object(await reply.body.json());
    t.regex(body.choices?.[0].message.content ?? JSON.stringify(body), says);
    const [sent] = upstream.requests;
    if (!answer) return;
    t.like(Object(sent?.body), { logprobs: true, top_logprobs: 5, response_format: { type: 'json_schema' } });
  });
}
