import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { openFleetStore } from '../../../engine/hub/fleet.ts';
import { ownPeer, PeerExchange } from '../../../engine/service/workers/peers.ts';
import { startGateway } from '../../support/gateway.ts';
import { addressIn, commandRig, type Running } from '../../support/processes/command.ts';
import { startRedis } from '../../support/processes/redis.ts';
import type { WorkerConnection } from '../../support/processes/workers.ts';
import { until } from '../../support/until.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';
import { adminKey, client, keyOf } from '../features/clients/rig.ts';

const page = readFileSync(new URL('../../../docs/fleet.md', import.meta.url), 'utf8');

/** What an account of the store needs, as the page says, without what Redis lacks before 7.2. */
export const storeRights = (/`(~sy:[^`]+)`/.exec(page)?.[1] ?? '')
  .split(' ')
  .filter((right) => right !== '+client|setinfo');

export const storePassword = 'password-of-the-store';
export const fleetKey = '0123456789abcdef'.repeat(4);

/** A gateway of a fleet, in processes of its own. */
interface Replica extends Pick<WorkerConnection, 'fetch'> {
  readonly baseUrl: string;
  readonly service: Running;
  readonly run: Awaited<ReturnType<typeof commandRig>>['run'];
}

/** A store with an account that has the least rights, and so many gateways that use it. `files`: what else is in their folders. */
export const fleetRig = async (
  t: ExecutionContext,
  count: number,
  config: object,
  fleet: object = {},
  files: Readonly<Record<string, string>> = {},
) => {
  const redis = await startRedis(t, '--user', 'sy', 'on', `>${storePassword}`, ...storeRights);
  const start = async (): Promise<Replica> => {
    const { home, begin, run } = await commandRig(t, {
      FLEET: {
        store: `redis://sy:$STORE_PASSWORD@127.0.0.1:${redis.port}`,
        key: '$FLEET_KEY',
        replicas: count,
        ...fleet,
      },
      ...config,
    });
    for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text);
    const env = { STORE_PASSWORD: storePassword, FLEET_KEY: fleetKey };
    const service = begin(['start'], { env });
    await service.says('listens on');
    const baseUrl = addressIn(service.out());
    return { baseUrl, service, run: (args) => run(args, { env }), fetch: fetchFrom(baseUrl) };
  };
  const replicas = await Promise.all(Array.from({ length: count }, start));
  return { redis, replicas };
};

/**
 * Asks until a request is served. On a busy machine, a member may be late and missing for a moment: what it may have admitted by
 * itself isn't granted to others, nor to the one that takes its place.
 */
export const untilServed = ({ ask }: Pick<Awaited<ReturnType<typeof inProcessFleet>>, 'ask'>): Promise<void> =>
  until(async () => (await ask()) === 200);

/** Waits until each of them has so many members in sight, and the store grants leases. */
export const untilMet = async (replicas: readonly Pick<Replica, 'fetch'>[], headers = {}): Promise<void> => {
  for (const { fetch } of replicas) {
    await until(async () => {
      const { store, members } = JSON.parse((await fetch('/api/fleet', { headers })).text);
      return store.up && members.length === replicas.length;
    });
  }
};

const fetchFrom =
  (baseUrl: string): WorkerConnection['fetch'] =>
  (path, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const sent = request(
        baseUrl + path,
        { method, headers: { 'content-type': 'application/json', ...headers } },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (data) => {
            text += data;
          });
          response.once('error', reject);
          response.once('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
        },
      );
      sent.once('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });

interface StoreOf {
  readonly store: string | readonly string[];
  readonly primary?: string;
  readonly key?: string;
  readonly ca?: string;
}

/** A gateway of a fleet in this process, with a client whose limit is far. `more`: further settings. */
export const inProcessFleet = async (
  t: ExecutionContext,
  { key = fleetKey, ...fleet }: StoreOf,
  wallMs?: () => number,
  more: object = {},
) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('Hello')));
  t.teardown(upstream.close);
  const said: string[] = [];
  const store = openFleetStore(
    {
      urls: [fleet.store].flat().map((url) => new URL(url)),
      primary: fleet.primary,
      ca: fleet.ca,
      name: 'junctor',
      keys: [Buffer.from(key, 'hex')],
      address: undefined,
      replicas: 1,
      withoutStore: 'share',
    },
    (line) => said.push(line),
    wallMs,
  );
  t.teardown(() => store.close());
  const peers = ownPeer(new PeerExchange({ fleet: store }));
  const supervision = {
    workers: () => ({ pid: process.pid, startedAtMs: 0, restarts: 0, workers: [] }),
    restart: () => Promise.resolve(),
    peers,
  };
  const gateway = await startGateway(
    {
      APIKEY: adminKey,
      LOG: true,
      FLEET: { ...fleet, key },
      CLIENTS: [client('a', { limits: { requestsPerMinute: 600 } })],
      Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }],
      ...more,
    },
    {},
    { supervision },
  );
  t.teardown(gateway.stop);
  const reach = fetchFrom(gateway.baseUrl);
  const admin = { 'x-api-key': adminKey };
  const read = async (path: string): Promise<string> => (await reach(path, { headers: admin })).text;
  return {
    home: gateway.home,
    baseUrl: gateway.baseUrl,
    admin,
    fetch: reach,
    stopListening: gateway.stop,
    post: (path: string, body: unknown) => reach(path, { method: 'POST', headers: admin, body }),
    said: () => said,
    log: () => readFile(join(gateway.home, 'app.log'), 'utf8').catch(() => ''),
    fetchJson: async (path: string) => JSON.parse(await read(path)),
    /** The value of a metric without labels. */
    metric: async (name: string): Promise<number> =>
      Number((await read('/metrics')).match(new RegExp(`^junctor_${name} (\\S+)$`, 'm'))?.[1]),
    ask: async (): Promise<number> => {
      const body = { model: 'p,m', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
      return (await reach('/v1/messages', { method: 'POST', headers: { 'x-api-key': keyOf('a') }, body })).status;
    },
  };
};
