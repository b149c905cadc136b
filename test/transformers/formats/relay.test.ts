import test from 'ava';
import { request } from 'undici';
import { isJsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { startGateway } from '../../support/gateway.ts';
import { recordingsOf } from '../../support/upstreams/recordings.ts';
import { recordedAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

/** Vendors with a dialect of their own: a chat client's request may be written anew, their answers reach it as they come. */
for (const vendor of ['deepseek', 'openrouter', 'groq']) {
  test(`${vendor}: each recorded answer reaches a chat client byte for byte`, async (t) => {
    const recordings = recordingsOf(vendor).filter(({ status }) => status === 200);
    const upstream = await startUpstream(({ body }) => {
      const name = isJsonObject(body) ? String(body.model) : '';
      const streamed = recordings.find((recording) => recording.name === name)?.streamed;
      return recordedAnswer(`${vendor}/${name}.${streamed ? 'sse' : 'json'}`, 701);
    });
    const gateway = await startGateway({
      LOG: false,
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: [] }],
      transformers: [{ name: vendor, provider: 'p' }],
    });
    try {
      t.true(recordings.length > 5);
      for (const { name, streamed, bytes } of recordings) {
        const answer = await request(`${gateway.baseUrl}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            model: `p,${name}`,
            stream: streamed,
            max_tokens: 9,
            messages: [
              { role: 'developer', content: 'A' },
              { role: 'user', content: 'Hi.' },
            ],
          }),
        });
        t.is(answer.statusCode, 200, name);
        // An error ends the answer: the `[DONE]` that this vendor sends after it is left out.
        const text = Buffer.from(bytes);
        const end = text.includes('"error":{') ? text.indexOf('data: [DONE]') : -1;
        const expected = end < 0 ? bytes : bytes.subarray(0, end);
        t.is(Buffer.compare(Buffer.from(await answer.body.arrayBuffer()), expected), 0, name);
        const sent = parseJson(upstream.requests.at(-1)?.text ?? '');
        const [first] = isJsonObject(sent) && Array.isArray(sent.messages) ? sent.messages : [];
        const role = vendor === 'openrouter' ? 'developer' : 'system';
        t.is(isJsonObject(first) ? first.role : undefined, role, 'the vendor’s own dialect');
      }
    } finally {
      await gateway.stop();
      await upstream.close();
    }
  });
}
