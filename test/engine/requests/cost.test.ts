import test from 'ava';
import { startGateway } from '../../support/gateway.ts';
import { chatReply, chatStream } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const done = 'data: [DONE]\n\n';
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const counted = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage })}\n\n`;

test('F11 an answer says what it costs if it is asked: whole ones in a header, streams in a last comment', async (t) => {
  const upstream = await startUpstream(({ text }) =>
    text.includes('"stream":true')
      ? sseAnswer([...chatStream(['Hello'])].flatMap((one) => (one === done ? [counted, one] : [one])))
      : jsonAnswer(chatReply('Hello')),
  );
  const gateway = await startGateway({
    LOG: false,
    Providers: [
      {
        name: 'p',
        baseUrl: `${upstream.url}/v1`,
        apiKey: 'k',
        models: [{ name: 'priced', price: { input: 1_000, output: 10_000 } }, 'free'],
      },
    ],
  });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const ask = async (path: string, model: string, stream: boolean, cost = '1') => {
    const answer = await fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-junctor-cost': cost },
      body: JSON.stringify({ model, stream, max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    return { header: answer.headers.get('x-junctor-cost'), text: await answer.text() };
  };
  for (const path of ['/v1/chat/completions', '/v1/messages']) {
    const whole = await ask(path, 'priced', false);
    const stream = await ask(path, 'priced', true);
    t.regex(whole.header ?? '', /^0\.0?\d{1,8}$/, `${path} ${whole.text}`);
    t.regex(stream.text, /\n: x-junctor-cost: \d+\.\d+\n\n$/, path);
    t.is(stream.header, null, 'its headers were sent before');
    t.is((await ask(path, 'free', false)).header, 'unknown');
    const silent = await ask(path, 'priced', true, '0');
    t.notRegex(silent.text, /x-junctor-cost/);
    t.is((await ask(path, 'priced', false, '0')).header, null);
  }
});
