import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { startGateway } from '../../support/gateway.ts';
import type { ScriptedUpstream } from '../../support/upstreams/upstream.ts';
import { failing, good, goodChat, inTurn, rig } from '../operators/retry/rig.ts';

const vendorKey = 'vendor-login-5f0c77aa19';
const gatewayKey = 'gateway-key-90bb12ce44';

const taking = { credentials: 'client', apiKey: undefined } as const;

/** Credentials that an upstream got, per request. */
const got = ({ requests }: ScriptedUpstream): readonly (readonly [authorization: unknown, key: unknown])[] =>
  requests.map(({ headers }) => [headers.authorization, headers['x-api-key']]);

const post = async (baseUrl: string, headers: Readonly<Record<string, string>>, over: object = {}) => {
  const answer = await request(`${baseUrl}/v1/messages`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'any', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...over }),
  });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
};

const upstreamOf = (upstreams: readonly ScriptedUpstream[], at = 0): ScriptedUpstream => {
  const upstream = upstreams[at];
  if (!upstream) throw new Error(`no upstream ${at}`);
  return upstream;
};

test("without keys of the gateway, the client's credentials reach the provider as they came", async (t) => {
  for (const [format, answer] of [
    ['anthropic', good()],
    ['openai', goodChat()],
  ] as const) {
    const { baseUrl, upstreams } = await rig(t, [answer], { providers: [taking], formats: [format] });
    await post(baseUrl, { authorization: `Bearer ${vendorKey}` });
    await post(baseUrl, { 'x-api-key': vendorKey });
    await post(baseUrl, { 'x-api-key': vendorKey }, { stream: true });
    t.deepEqual(got(upstreamOf(upstreams)), [
      [`Bearer ${vendorKey}`, undefined],
      [undefined, vendorKey],
      [undefined, vendorKey],
    ]);
  }
});

test('without credentials the client gets 401, and nothing is called', async (t) => {
  const { baseUrl, upstreams } = await rig(t, [good()], { providers: [taking] });
  for (const headers of [{}, { 'x-api-key': ' ' }, { authorization: 'Bearer a, Bearer b' }]) {
    const { status, text } = await post(baseUrl, headers);
    t.is(status, 401);
    t.regex(
      text,
      /The provider a takes the client's own credentials: send them as \\"Authorization\\" or \\"x-api-key\\"\./,
    );
  }
  t.is(upstreamOf(upstreams).requests.length, 0);
});

test('a key of the gateway is still needed, and never reaches the provider', async (t) => {
  const clientKey = 'sk-junctor-of-a-team';
  const { baseUrl, upstreams } = await rig(t, [good()], {
    providers: [taking],
    config: {
      APIKEY: gatewayKey,
      CLIENTS: [{ name: 'team', key: `sha256:${hash('sha256', clientKey)}` }],
      Router: { default: 'a,m' },
    },
  });
  const vendor = { authorization: `Bearer ${vendorKey}` };
  const refused: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [vendor, /The API key is missing or wrong/],
    [{ ...vendor, 'x-junctor-api-key': 'wrong' }, /The API key is missing or wrong/],
    [{ ...vendor, 'x-junctor-api-key': vendorKey, 'x-api-key': gatewayKey }, /The API key is missing or wrong/],
    [{ 'x-api-key': gatewayKey }, /and the gateway's key as \\"x-junctor-api-key\\"\./],
    [{ authorization: `Bearer ${clientKey}` }, /and the gateway's key as/],
    [{ 'x-junctor-api-key': clientKey, authorization: `Bearer ${gatewayKey}` }, /and the gateway's key as/],
  ];
  for (const [headers, message] of refused) {
    const { status, text } = await post(baseUrl, headers);
    t.is(status, 401, text);
    t.regex(text, message);
  }
  t.is(upstreamOf(upstreams).requests.length, 0);
  const accepted: readonly Readonly<Record<string, string>>[] = [
    { ...vendor, 'x-junctor-api-key': gatewayKey },
    { ...vendor, 'x-junctor-api-key': clientKey },
    { ...vendor, 'x-api-key': gatewayKey },
  ];
  for (const headers of accepted) t.is((await post(baseUrl, headers)).status, 200);
  t.deepEqual(
    got(upstreamOf(upstreams)),
    accepted.map(() => [`Bearer ${vendorKey}`, undefined]),
  );
  const sent = JSON.stringify(upstreamOf(upstreams).requests.map(({ headers, text }) => [headers, text]));
  t.false(sent.includes(gatewayKey) || sent.includes(clientKey));
});

test("credentials stay with their provider: a fallback has its own key, and another provider that takes clients' is passed", async (t) => {
  const scripts = [failing(501), good('b'), good('c')];
  const { baseUrl, upstreams } = await rig(t, scripts, { providers: [taking, taking, {}] });
  const { status, headers } = await post(baseUrl, { 'x-api-key': vendorKey });
  t.is(status, 200);
  t.is(headers['x-junctor-attempts'], 'a,m=501');
  t.deepEqual(
    upstreams.map((upstream) => got(upstream)),
    [[[undefined, vendorKey]], [], [[undefined, 'k']]],
  );
});

test('a redirect does not take them elsewhere', async (t) => {
  const other = await rig(t, [good('elsewhere')]);
  const location = `${upstreamOf(other.upstreams).url}/v1/messages`;
  const { baseUrl } = await rig(t, [failing(307, { location })], { providers: [taking] });
  t.is((await post(baseUrl, { 'x-api-key': vendorKey })).status, 502);
  t.is(upstreamOf(other.upstreams).requests.length, 0);
});

test("a client's refused or limited key is its own matter: no fallback pays, other clients go on", async (t) => {
  for (const status of [401, 402, 403, 429]) {
    const { baseUrl, upstreams } = await rig(
      t,
      [inTurn(failing(status, { 'retry-after': '3600' }), good('a')), good('b')],
      {
        providers: [taking],
      },
    );
    const first = await post(baseUrl, { 'x-api-key': 'one-of-its-own' });
    t.is(first.status, status === 429 ? 200 : status);
    t.is(upstreamOf(upstreams, 1).requests.length, status === 429 ? 1 : 0);
    const { text } = await post(baseUrl, { 'x-api-key': vendorKey });
    t.regex(text, /"a"/, 'the key of another client is not at rest');
  }
});

/** All that the gateway keeps or tells of requests. */
const toldOf = async (t: ExecutionContext, baseUrl: string, home: string): Promise<string> => {
  const told: string[] = [];
  const paths = [
    '/api/requests',
    '/api/requests/captured',
    '/api/upstreams',
    '/api/activity',
    '/metrics',
    '/api/graph',
  ];
  for (const path of paths) {
    const answer = await request(`${baseUrl}${path}`);
    t.is(answer.statusCode, 200, path);
    told.push(await answer.body.text());
  }
  for (const file of await readdir(join(home, 'logs'), { recursive: true, withFileTypes: true })) {
    if (file.isFile()) told.push(await readFile(join(file.parentPath, file.name), 'utf8'));
  }
  return told.join('\n');
};

test('they show nowhere: not in logs, records, captures, metrics or errors, even if the upstream repeats them', async (t) => {
  const { baseUrl, home } = await rig(
    t,
    [
      ({ headers }, count) => ({
        status: count % 2 === 0 ? 500 : 400,
        headers: { 'content-type': 'application/json' },
        pieces: [
          JSON.stringify({
            type: 'error',
            error: { type: 'x', message: `bad ${headers['x-api-key']} ${headers.authorization}` },
          }),
        ],
      }),
    ],
    { providers: [taking], config: { LOG_LEVEL: 'debug', RETRY: { attempts: 0 }, Router: { default: 'a,m' } } },
  );
  const answers: string[] = [];
  for (const credentials of [{ 'x-api-key': vendorKey }, { authorization: `Bearer ${vendorKey}` }]) {
    for (const stream of [false, true]) {
      const own = { ...credentials, 'x-junctor-capture': '1', 'x-request-id': 'captured' };
      const { text, headers } = await post(baseUrl, own, { stream });
      answers.push(text, JSON.stringify(headers));
    }
  }
  const told = await toldOf(t, baseUrl, home);
  t.true(told.includes('captured'));
  t.false(told.includes(vendorKey));
  t.false(answers.join().includes(vendorKey));
});

test('a key beside them has no effect, with a warning', async (t) => {
  const gateway = await startGateway({
    LOG: false,
    Providers: [
      { name: 'a', baseUrl: 'http://h.invalid', apiKey: 'unused', credentials: 'client', models: ['m'] },
      { name: 'b', baseUrl: 'http://h.invalid', credentials: 'client', models: ['m'] },
    ],
  });
  t.teardown(gateway.stop);
  t.deepEqual(
    gateway.reports.filter((line) => line.startsWith('warning')),
    ['warning: Providers[0].apiKey has no effect: clients send their own credentials'],
  );
});
