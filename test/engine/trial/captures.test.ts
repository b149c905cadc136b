import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { everyCut, everyLeave, testStage } from '../../../engine/testing-api.ts';
import { mapText, transformer } from '../../../engine/transformer-api.ts';
import { startGateway } from '../../support/gateway.ts';
import { chatReply, chatStream } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, recordedAnswer, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const loud = transformer({
  name: 'loud',
  request: (request) => ({ ...request, system: [{ type: 'text', text: 'Be loud.' }, ...request.system] }),
  operators: () => ({ events: mapText((text) => text.toUpperCase()) }),
});

const formats = [
  { name: 'chat', base: '/v1', answer: async () => sseAnswer(chatStream(['Good ', 'day to ', 'you'])) },
  { name: 'messages', base: '/anthropic', answer: () => recordedAnswer('anthropic/text-short.sse', 50) },
  { name: 'whole', base: '/v1', answer: async () => jsonAnswer(chatReply('good day')) },
] as const;

const clients = [
  ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'How are you?' }] }],
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'How are you?' }] }],
  ['/v1/responses', { input: 'How are you?' }],
] as const;

for (const { name, base, answer } of formats) {
  test(`a capture is tested as it is exported, of each client protocol: ${name}`, async (t) => {
    const upstream = await startUpstream(answer);
    t.teardown(upstream.close);
    const gateway = await startGateway({
      LOG: false,
      Providers: [{ name: 'p', baseUrl: upstream.url + base, apiKey: 'k', models: ['m'] }],
    });
    t.teardown(gateway.stop);
    for (const [path, body] of clients) {
      const id = path.slice(4).replace('/', '-');
      const response = await fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers: { 'x-junctor-capture': '1', 'x-request-id': id },
        body: JSON.stringify({ model: 'p,m', stream: name !== 'whole', ...body }),
      });
      await response.text();
      const exported = await fetch(`${gateway.baseUrl}/api/requests/${id}/capture`);
      const text = await exported.text();
      const file = join(gateway.home, `${id}.json`);
      await writeFile(file, text);
      const capture: object = JSON.parse(text);

      const tried = await testStage({ stage: loud, capture });
      t.like(tried.request.before.turns, { 0: { role: 'user', parts: { 0: { text: 'How are you?' } } } }, path);
      t.is(tried.request.after?.system[0]?.text, 'Be loud.');
      const answered = tried.events.before
        .flat()
        .flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))
        .join('');
      t.true(answered.length > 3);
      t.is(tried.text, answered.toUpperCase());
      if (name !== 'whole') t.true(tried.events.before.length > 2, 'the batches are those of the recording');
      t.like(await testStage({ stage: loud, capture: file }), { text: tried.text });
      t.true((await everyCut({ stage: loud, capture })) > 3);
      t.true((await everyLeave({ stage: loud, capture })) > 2);
    }
  });
}

test('what is no capture, and one without an answer, is told', async (t) => {
  await t.throwsAsync(testStage({ stage: loud, capture: '/there/is/none.json' }), {
    message: /^Cannot read the capture/,
  });
  await t.throwsAsync(testStage({ stage: loud, capture: {} }), {
    message: /^Cannot use the capture\. It is not a capture/,
  });
});
