import test from 'ava';
import { request } from 'undici';
import { startGateway } from '../../support/gateway.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const safeguards = [{ type: 'dangerous_tool_use', classifier_context: { home_dir: '/home/ann' } }];
const body = { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };

test('a client that wants verdicts and gets none is told of where people look', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('ok')));
  const gateway = await startGateway({
    Providers: [
      { name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m', 'judged'] },
      { name: 'vendor', baseUrl: 'https://api.anthropic.com', apiKey: 'k', models: ['claude-opus-5-5'] },
    ],
    transformers: [{ name: 'judge', models: ['judged'], ask: ['p,m'], when: { not: { headers: { 'x-off': true } } } }],
  });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const post = async (path: string, asked: object) => {
    const answer = await request(gateway.baseUrl + path, { method: 'POST', body: JSON.stringify(asked) });
    return { text: await answer.body.text(), losses: answer.headers['x-junctor-loss'] };
  };
  const warningsFor = async (model: string, more: object = { safeguards }, headers: object = {}) => {
    const asked = { client: 'messages', headers, body: { model, ...body, ...more } };
    return Object(JSON.parse((await post('/api/explain', asked)).text)).warnings.join();
  };
  const answers = [];
  for (let n = 0; n < 3; n += 1) answers.push(await post('/v1/messages', { model: 'p,m', ...body, safeguards }));
  const warnings = [
    await warningsFor('p,m'),
    await warningsFor('p,judged', { safeguards }, { 'x-off': '1' }),
    await warningsFor('p,m', {}),
    await warningsFor('p,judged'),
    await warningsFor('vendor,claude-opus-5-5'),
  ];
  const log = await request(`${gateway.baseUrl}/api/logs?file=app.log`);
  const lines = (await log.body.text()).split('\n').filter((line) => line.includes('nothing does'));
  for (const { text, losses } of answers) {
    t.false(text.includes('safeguard_results'));
    t.regex(String(losses), /dropped: safeguards/);
  }
  t.regex(warnings[0], /^The client wants the tool calls of p,m judged/);
  t.regex(warnings[1], /^The client wants the tool calls of p,judged judged/);
  for (const other of warnings.slice(2)) t.notRegex(other, /nothing does/);
  t.is(lines.length, 1, 'once');
});

test('a judge that may ask nobody is a fault of the configuration', async (t) => {
  const gateway = await startGateway({
    Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['m'] }],
  });
  t.teardown(gateway.stop);
  const saved = await request(`${gateway.baseUrl}/api/config`, {
    method: 'POST',
    body: JSON.stringify({
      Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['m'] }],
      transformers: ['judge'],
    }),
  });
  t.is(saved.statusCode, 400);
  t.regex(await saved.body.text(), /transformers\[0\]\.ask.*is required: \\"judge\\" asks a model/);
});
