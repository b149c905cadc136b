import test from 'ava';
import { formatFinding } from '../../../engine/config/diagnostics.ts';
import { validateConfig } from '../../../engine/config/validate.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { startGateway } from '../../support/gateway.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

/*
 * What a provider's or model's `headers`, `query` and `body` add to calls: converted ones, and ones whose bytes pass.
 */

const extras = {
  headers: { 'X-Title': 'tests', 'X-Team-Key': '$TEAM_KEY' },
  query: { 'api-version': '1', trace: '$TRACE' },
  body: { provider: { sort: 'price', only: ['a'] }, top_p: null },
};
const own = {
  headers: { 'x-title': 'tests of one' },
  query: { trace: 'model' },
  body: { provider: { only: null }, seed: 7 },
};
const env = { TEAM_KEY: 'team-secret-1', TRACE: 'all' };

const clients = {
  messages: {
    path: '/v1/messages',
    body: { max_tokens: 9, top_p: 0.5, messages: [{ role: 'user', content: 'Hello' }] },
  },
  chat: {
    path: '/v1/chat/completions',
    body: { top_p: 0.5, own_field: [1], provider: { order: ['b'] }, messages: [{ role: 'user', content: 'Hello' }] },
  },
};

for (const [client, { path, body }] of Object.entries(clients)) {
  for (const long of [false, true]) {
    test(`${client}, ${long ? '1 MB' : 'short'}: calls have the headers, parameters and members of provider and model`, async (t) => {
      const upstream = await startUpstream(() => jsonAnswer(chatReply('fine')));
      t.teardown(upstream.close);
      const gateway = await startGateway(
        {
          Providers: [
            {
              name: 'p',
              baseUrl: `${upstream.url}/v1?x=y`,
              apiKey: 'k',
              models: ['plain', { name: 'm', ...own }],
              ...extras,
            },
          ],
          Router: { default: 'p,m' },
        },
        env,
      );
      t.teardown(gateway.stop);
      const ask = async (model: string): Promise<void> => {
        const messages = [{ role: 'user', content: long ? 'long '.repeat(200_000) : 'Hello' }];
        const reply = await fetch(gateway.baseUrl + path, {
          method: 'POST',
          body: JSON.stringify({ ...body, model, messages }),
        });
        t.is(reply.status, 200, await reply.text());
      };
      await ask('p,plain');
      await ask('p,m');
      const [plain, model] = upstream.requests;
      const sent = client === 'chat' ? { order: ['b'] } : {};
      t.like(plain?.headers, { 'x-title': 'tests', 'x-team-key': 'team-secret-1', authorization: 'Bearer k' });
      t.is(plain?.url, '/v1/chat/completions?x=y&api-version=1&trace=all');
      t.like(plain?.body, { model: 'plain', provider: { ...sent, sort: 'price', only: ['a'] } });
      t.like(model?.headers, { 'x-title': 'tests of one', 'x-team-key': 'team-secret-1' });
      t.is(model?.url, '/v1/chat/completions?x=y&api-version=1&trace=model');
      t.like(model?.body, { model: 'm', seed: 7, provider: { ...sent, sort: 'price', only: undefined } });
      for (const request of [plain, model]) {
        const given = request?.body as JsonObject;
        t.false('top_p' in given);
        t.deepEqual(given.own_field, client === 'chat' ? [1] : undefined);
      }
    });
  }
}

test('the graph names what is added, and shows no value; an upstream that repeats a secret header is masked', async (t) => {
  const upstream = await startUpstream(({ headers }) =>
    jsonAnswer({ error: { message: `no access for ${headers['x-team-key']}` } }, 403),
  );
  t.teardown(upstream.close);
  const gateway = await startGateway(
    {
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: [{ name: 'm', ...own }], ...extras }],
      Router: { default: 'p,m' },
    },
    env,
  );
  t.teardown(gateway.stop);
  const graph = await (await fetch(`${gateway.baseUrl}/api/graph?model=p,m&client=chat`)).text();
  t.regex(graph, /"headers\.x-title","headers\.x-team-key","query\.api-version","query\.trace","body\.provider"/);
  t.regex(graph, /"but":\["model","credentials","provider","top_p","seed"\]/);
  t.notRegex(graph, /team-secret|tests of one|trace=/);
  const { path, body } = clients.chat;
  const reply = await fetch(gateway.baseUrl + path, {
    method: 'POST',
    body: JSON.stringify({ ...body, model: 'any' }),
  });
  const text = await reply.text();
  t.regex(text, /no access for \*\*\*/);
  t.notRegex(text, /team-secret/);
});

test("the graph names further base URLs and clients' own credentials, which are not replaced", async (t) => {
  const more = { otherBaseUrls: ['http://127.0.0.1:9/b'], credentials: 'client' };
  const gateway = await startGateway({
    Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9', models: ['m'], ...more }],
    Router: { default: 'p,m' },
  });
  t.teardown(gateway.stop);
  const graph = await (await fetch(`${gateway.baseUrl}/api/graph?model=p,m&client=chat`)).text();
  t.regex(graph, /"options":\["credentials","otherBaseUrls"\]/);
  t.regex(graph, /"but":\["model"\]/);
});

const refusals: readonly (readonly [written: object, fault: string])[] = [
  [{ headers: { Host: 'x' } }, 'Providers[0].headers.Host is set by the gateway itself; use `baseUrl` instead'],
  [
    { headers: { 'proxy-authorization': 'x' } },
    'Providers[0].headers.proxy-authorization is set by the gateway itself; use `HTTPS_PROXY` in the environment instead',
  ],
  [{ headers: { 'a b': 'x' } }, "Providers[0].headers.a b isn't a valid header name"],
  [{ headers: { a: 'x\ny' } }, 'Providers[0].headers.a must have a value without control characters, in Latin-1'],
  [{ headers: { a: 1 } }, 'Providers[0].headers.a must be string'],
  [{ query: { '': 'x' } }, 'Providers[0].query. must have a name'],
  [{ query: { a: true } }, 'Providers[0].query.a must be string'],
  [{ body: [] }, 'Providers[0].body must be object'],
  [{ body: { stream: true } }, 'Providers[0].body.stream is set by the client'],
  [
    { models: [{ name: 'm', body: { model: 'n' } }] },
    'Providers[0].models[0].body.model is set by the destination of a request',
  ],
  [{ models: [{ name: 'm', headers: { te: 'x' } }] }, 'Providers[0].models[0].headers.te is set by the gateway itself'],
];

for (const [written, fault] of refusals) {
  test(`refused: ${fault}`, (t) => {
    const result = validateConfig(
      { Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: '', models: ['m'], ...written }] },
      {},
    );
    t.true('faults' in result && result.faults.map(formatFinding).includes(fault), JSON.stringify(result));
  });
}

test('a header with an unset variable makes the provider unusable, as an unset key does; unknown members are named', (t) => {
  const row = { name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: '', models: ['m', { name: 'n', header: {} }] };
  const { warnings } = validateConfig({ Providers: [{ ...row, headers: { a: '$NOT_SET' } }] }, {});
  t.deepEqual(warnings.map(formatFinding), [
    'Providers[0].models[1].header is unknown and has no effect; did you mean headers?',
    "Providers[0] can't be used: the environment variable NOT_SET is not set",
  ]);
});
