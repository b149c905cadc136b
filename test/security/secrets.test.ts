import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { jsonAnswer, type Script, sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';

/** A secret for each place that one can be in. */
const canaries = {
  own: 'canary-own-4f1c9a',
  ownInEnvironment: 'canary-ownenv-5b2d8e',
  upstream: 'canary-upstream-77be02',
  upstreamInEnvironment: 'canary-upenv-19ac44',
  proxyPassword: 'canary-proxy-c0ffee',
  option: 'canary-option-81dd31',
  client: 'canary-client-d3ad10',
  cookie: 'canary-cookie-a90b3c',
  query: 'canary-query-6e55f1',
  header: 'canary-header-20cc7d',
  prompt: 'canary-prompt-e4e4e4',
};

/** Says back what it was given, as some vendors do: in a failure, in a good answer's error, in a stream's error. */
const echoing: Script = ({ headers, body }) => {
  const said = `bad key ${headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization}`;
  const { model, stream } = Object(body);
  const error = { error: { message: said, type: 'x', code: 'y' } };
  const name = String(model);
  if (name === 'in-200') return stream ? sseAnswer([`data: ${JSON.stringify(error)}\n\n`]) : jsonAnswer(error);
  return jsonAnswer(error, Number(name) || 500);
};

const messages = [{ role: 'user', content: `hi ${canaries.prompt}` }];
const models = ['401', '403', '429', '500', 'in-200'];

interface Seen {
  readonly where: string;
  readonly text: string;
}

const everything = async (t: ExecutionContext, proxyUrl: string, upstreamUrl: string): Promise<readonly Seen[]> => {
  const provider = (name: string, apiKey: string, baseUrl = `${upstreamUrl}/v1`) => ({ name, baseUrl, apiKey, models });
  const gateway = await startGateway(
    {
      APIKEY: '$OWN',
      LOG_LEVEL: 'debug',
      Providers: [
        provider('plain', canaries.upstream),
        provider('named', '$UPSTREAM'),
        provider('other', canaries.upstream),
        provider('away', canaries.upstream, 'http://model.example/v1'),
      ],
      transformers: [
        { name: 'anthropic', provider: 'other' },
        { name: 'maxtoken', provider: 'plain', options: { max_tokens: 5, apiKey: canaries.option } },
        { path: 'throws.ts', provider: 'named', options: { token: canaries.option } },
      ],
    },
    {
      OWN: canaries.ownInEnvironment,
      UPSTREAM: canaries.upstreamInEnvironment,
      HTTP_PROXY: `http://me:${canaries.proxyPassword}@${proxyUrl}`,
    },
    {
      files: {
        'throws.ts': `export default ({ token }) => ({ name: 'throws', request(asked) {
          if (asked.model.endsWith('500')) throw new Error('no good: authorization: Bearer ' + token);
          return asked;
        } });`,
      },
    },
  );
  t.teardown(gateway.stop);
  const seen: Seen[] = [];
  const headers = {
    'x-api-key': canaries.ownInEnvironment,
    cookie: `session=${canaries.cookie}`,
    'x-secret-thing': canaries.header,
  };
  // The feed shows all requests below. It ends with the gateway.
  const feed = await request(`${gateway.baseUrl}/api/feed`, { headers });
  const fed = feed.body.text();
  const call = async (path: string, init: Parameters<typeof request>[1] = {}): Promise<void> => {
    const answer = await request(`${gateway.baseUrl}${path}`, { headers, ...init });
    const where = `${init.method ?? 'GET'} ${path} ${String(init.body).slice(0, 60)}`;
    seen.push({ where, text: JSON.stringify(answer.headers) + (await answer.body.text()) });
  };
  const ask = async (model: string, stream: boolean): Promise<void> => {
    const body = JSON.stringify({ model, stream, max_tokens: 9, messages });
    await call('/v1/messages', { method: 'POST', body });
    await call(`/v1/chat/completions?key=${canaries.query}`, { method: 'POST', body });
    await call(`/v1/responses?api_key=${canaries.query}`, {
      method: 'POST',
      body: JSON.stringify({ model, stream, input: messages }),
    });
  };
  await Promise.all(
    ['plain', 'named', 'other', 'away'].flatMap((name) =>
      models.flatMap((last) => [false, true].map((stream) => ask(`${name},${last}`, stream))),
    ),
  );
  await call('/v1/messages', { method: 'POST', body: '{}', headers: { authorization: `Bearer ${canaries.client}` } });
  await call('/v1/messages', { method: 'POST', body: `{"model": "${canaries.prompt}` });
  await call('/v1/messages/count_tokens', { method: 'POST', body: JSON.stringify({ model: 'other,500', messages }) });
  for (const client of ['messages', 'chat', 'responses']) {
    const asked = { model: 'plain,500', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], input: 'hi' };
    await call('/api/explain', { method: 'POST', body: JSON.stringify({ client, body: asked }) });
  }
  for (const { method, path, endpoint } of gateway.routes) {
    if (method !== 'GET' || path === '/api/feed' || endpoint.open) continue;
    // Without the query, these answer with what the file says.
    const query = /^\/api\/(?:config|presets)/.test(path) ? '?secrets=hidden' : '';
    await call(path.replace(/:\w+|\*$/g, 'x') + query);
  }
  await call('/api/config', {
    method: 'POST',
    body: JSON.stringify({ APIKEY: { text: canaries.own }, PORT: canaries.own }),
  });
  const last = { model: 'plain,the-last', max_tokens: 9, messages };
  await call('/v1/messages', { method: 'POST', body: JSON.stringify(last) });
  const readLogs = async (): Promise<readonly Seen[]> => {
    const logs: Seen[] = [];
    for (const folder of ['logs', '.']) {
      for (const name of await readdir(join(gateway.home, folder))) {
        if (!name.endsWith('.log')) continue;
        logs.push({ where: name, text: await readFile(join(gateway.home, folder, name), 'utf8') });
      }
    }
    return logs;
  };
  // Logs are written a moment later.
  let logs: readonly Seen[] = [];
  await until(async () => {
    logs = await readLogs();
    return logs.some(({ text }) => text.includes('the-last'));
  });
  seen.push(...logs);
  await call('/api/logs');
  seen.push({ where: 'reports', text: gateway.reports.join('\n') });
  await gateway.stop();
  seen.push({ where: 'feed', text: await fed });
  t.true(
    seen.some(({ where, text }) => where === 'feed' && text.includes('in-200')),
    'the feed was read',
  );
  t.true(
    seen.some(({ where, text }) => where.startsWith('junctor-') && text.includes('incoming request')),
    'the server log was read',
  );
  t.true(
    seen.some(({ where, text }) => where === 'app.log' && text.includes('routed to')),
    'the application log was read',
  );
  t.true(
    seen.some(({ text }) => text.includes('junctor_requests_total')),
    'the metrics were read',
  );
  return seen;
};

test('S8 no secret shows: answers, headers, logs, metrics, descriptions, explanations, messages', async (t) => {
  const upstream = await startUpstream(echoing);
  t.teardown(upstream.close);
  // A proxy that says what it was sent.
  const proxy = createServer((asked, answer) => {
    answer.writeHead(407).end(`no ${asked.headers['proxy-authorization']}`);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => proxy.close());
  // The border to Node: a server that listens on a port has an address of this form.
  const { port } = proxy.address() as AddressInfo;
  const seen = await everything(t, `127.0.0.1:${port}`, upstream.url);
  t.true(
    upstream.requests.some(({ headers }) => headers['x-api-key'] === canaries.upstream),
    'the vendor was given the key',
  );
  const basic = Buffer.from(`me:${canaries.proxyPassword}`).toString('base64');
  for (const [whose, canary] of [...Object.entries(canaries), ['proxy, encoded', basic]] as const) {
    const hits = seen
      .filter(({ where, text }) => text.includes(canary) && !isRelayedStream(where))
      .map(({ where, text }) => `${where}: …${around(text, canary)}…`);
    t.deepEqual(hits, [], `${whose}`);
  }
});

/** A stream that passes byte for byte isn't searched: a vendor who puts the key it was given into one shows it to the client. */
const isRelayedStream = (where: string): boolean =>
  /chat\/completions.*"(?:plain|named),in-200","stream":true/.test(where) ||
  /messages \{"model":"other,in-200","stream":true/.test(where);

const around = (text: string, canary: string): string => {
  const at = text.indexOf(canary);
  return text.slice(Math.max(0, at - 80), at + 80);
};

test("S9 upstream requests have the provider's credentials and forwarded fields, nothing else of the client", async (t) => {
  const upstream = await startUpstream(() => jsonAnswer({ error: { message: 'm' } }, 500));
  const provider = (name: string) => ({ name, baseUrl: upstream.url, apiKey: 'the-vendors-key', models: ['m'] });
  const gateway = await startGateway({
    LOG: false,
    RETRY: { attempts: 0 },
    Providers: [provider('chat'), provider('own')],
    transformers: [{ name: 'anthropic', provider: 'own' }],
  });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const hostile = {
    authorization: 'Bearer client',
    'x-api-key': 'client',
    'api-key': 'client',
    'x-goog-api-key': 'client',
    'proxy-authorization': 'Basic client',
    cookie: 'client=1',
    forwarded: 'for=client',
    via: '1.1 client',
    'x-forwarded-for': 'client',
    'x-forwarded-host': 'client',
    'x-forwarded-proto': 'client',
    'x-real-ip': 'client',
    'cf-connecting-ip': 'client',
    te: 'trailers',
    referer: 'http://localhost/client',
    'x-anything': 'client',
    'user-agent': 'client-agent',
  };
  const body = JSON.stringify({ max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });
  for (const model of ['chat,m', 'own,m']) {
    for (const path of ['/v1/messages', '/v1/chat/completions']) {
      const sent = JSON.stringify({ ...JSON.parse(body), model });
      const answer = await request(`${gateway.baseUrl}${path}`, { method: 'POST', body: sent, headers: hostile });
      await answer.body.dump();
    }
  }
  t.is(upstream.requests.length, 4);
  const allowed =
    /^(?:host|connection|content-type|content-length|accept|accept-encoding|user-agent|authorization|x-api-key|anthropic-version|anthropic-beta|x-junctor-hops)$/;
  for (const { headers } of upstream.requests) {
    t.deepEqual(
      Object.keys(headers).filter((name) => !allowed.test(name)),
      [],
    );
    t.deepEqual(
      Object.entries(headers).filter(([name, value]) => name !== 'user-agent' && String(value).includes('client')),
      [],
    );
  }
});

test('S8 a failed start names the field but no value', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const written = {
    HOST: '0.0.0.0',
    APIKEY: { text: canaries.own },
    Providers: [{ name: 'p', baseUrl: `http://me:${canaries.upstream}@`, apiKey: [canaries.upstream], models: 1 }],
    transformers: [{ name: 'maxtoken', options: canaries.option }],
  };
  for (const text of [JSON.stringify(written), `{"APIKEY": "${canaries.own}" "${canaries.upstream}"}`]) {
    await writeFile(join(home, 'config.json'), text);
    const { status, stdout, stderr } = spawnSync(process.execPath, ['engine/cli/junctor.js', 'start'], {
      env: { ...process.env, JUNCTOR_HOME: home },
      encoding: 'utf8',
    });
    t.is(status, 1);
    t.notRegex(stdout + stderr, /canary/);
    t.notRegex(stderr, /^\s+at /m, 'no stack');
    t.regex(stderr, /config\.json/);
  }
});
