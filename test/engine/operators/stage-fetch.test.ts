import test from 'ava';
import { request } from 'undici';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { jsonAnswer, type Reaction, type ScriptedUpstream, startUpstream } from '../../support/upstreams/upstream.ts';

/** A stage fetches what the client's text says, and answers with what came of it. */
const stage = `import { answer, lastText, transformer } from 'junctor/transformer';
  export default transformer({ name: 'fetches', async around(request, next, context) {
    const { url, ...options } = JSON.parse(lastText(request));
    try {
      const { status, headers, text } = await context.fetch(url, options);
      return answer(JSON.stringify({ status, type: headers['content-type'], text }));
    } catch (error) {
      return answer(error.name + ': ' + error.message);
    }
  } });`;

let service: ScriptedUpstream;
let gateway: TestGateway;

test.before(async () => {
  service = await startUpstream(({ url, method, headers, text }): Reaction => {
    if (url.includes('/moved')) return { status: 302, headers: { location: '/elsewhere' } };
    if (url.includes('/silent')) return 'never';
    if (url.includes('/large')) return { pieces: ['x'.repeat(600), 'x'.repeat(600)] };
    if (url.includes('/reset')) return 'reset';
    return jsonAnswer({ url, method, text, authorization: headers.authorization, extra: headers['x-extra'] }, 418);
  });
  gateway = await startGateway(
    {
      LOG: false,
      Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['m'] }],
      transformers: [{ path: 'fetches.ts' }],
    },
    { HTTP_PROXY: service.url },
    { files: { 'fetches.ts': stage } },
  );
});

test.after.always(async () => {
  await gateway?.stop();
  await service?.close();
});

const fetched = async (given: object): Promise<string> => {
  const { body } = await request(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'p,m', messages: [{ role: 'user', content: JSON.stringify(given) }] }),
  });
  return Object(await body.json()).choices[0].message.content;
};

test('a stage gets an answer of any status, with its own headers and body sent', async (t) => {
  const said = await fetched({ url: `${service.url}/a?b=c#d`, headers: { 'X-Extra': 'one' }, body: 'words' });
  t.deepEqual(JSON.parse(said), {
    status: 418,
    type: 'application/json',
    text: JSON.stringify({ url: '/a?b=c', method: 'POST', text: 'words', extra: 'one' }),
  });
});

test("the environment's proxy is used, and a password in the address goes as a header", async (t) => {
  const { text } = JSON.parse(await fetched({ url: 'http://user:pa%3Ass@service.example/x' }));
  t.deepEqual(JSON.parse(text), {
    url: 'http://service.example/x',
    method: 'GET',
    text: '',
    authorization: `Basic ${Buffer.from('user:pa:ss').toString('base64')}`,
  });
});

test('a redirect is an answer', async (t) => {
  t.is(JSON.parse(await fetched({ url: `${service.url}/moved` })).status, 302);
});

const faults: Readonly<Record<string, readonly [given: Readonly<Record<string, unknown>>, said: RegExp]>> = {
  'a long answer': [
    { path: '/large?key=secret', maxBytes: 1_000 },
    /fetch\("http:\/\/127[^?]*\/large"\): the answer has more than 1000 bytes/,
  ],
  'no answer': [{ path: '/silent?key=secret', limitMs: 50 }, /\/silent"\): there was no whole answer within 50 ms/],
  'a broken connection': [{ path: '/reset?key=secret' }, /\/reset"\): /],
  'a file': [{ url: 'file:///etc/passwd' }, /the address is not an http or https URL/],
  'no address': [{ url: 'secret words' }, /fetch\("…"\): the address is not an http or https URL/],
};

for (const [name, [{ path, ...given }, said]] of Object.entries(faults)) {
  test(`${name} is a fault that names the service, and no more`, async (t) => {
    const words = await fetched(path === undefined ? given : { ...given, url: service.url + String(path) });
    t.regex(words, /^FaultError: Transformer "fetches" failed in /);
    t.regex(words, said);
    t.false(words.includes('secret'), words);
  });
}
