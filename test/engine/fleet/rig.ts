import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { ExecutionContext } from 'ava';
import { addressIn, commandRig, type Running } from '../../support/command.ts';
import { startRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import type { WorkerConnection } from '../../support/workers.ts';

const page = readFileSync(new URL('../../../docs/fleet.md', import.meta.url), 'utf8');

/** What an account of the store needs, as the page says, without what Redis lacks before 7.2. */
const rights = (/`(~sy:[^`]+)`/.exec(page)?.[1] ?? '').split(' ').filter((right) => right !== '+client|setinfo');

export const storePassword = 'password-of-the-store';
export const fleetKey = '0123456789abcdef'.repeat(4);

/** A gateway of a fleet, in processes of its own. */
interface Replica extends Pick<WorkerConnection, 'fetch'> {
  readonly baseUrl: string;
  readonly service: Running;
  readonly run: Awaited<ReturnType<typeof commandRig>>['run'];
}

/** A store with an account that has the least rights, and so many gateways that use it. */
export const fleetRig = async (t: ExecutionContext, count: number, config: object, fleet: object = {}) => {
  const redis = await startRedis(t, '--user', 'sy', 'on', `>${storePassword}`, ...rights);
  const start = async (): Promise<Replica> => {
    const { begin, run } = await commandRig(t, {
      FLEET: {
        store: `redis://sy:$STORE_PASSWORD@127.0.0.1:${redis.port}`,
        key: '$FLEET_KEY',
        replicas: count,
        ...fleet,
      },
      ...config,
    });
    const env = { STORE_PASSWORD: storePassword, FLEET_KEY: fleetKey };
    const service = begin(['start'], { env });
    await service.says('listens on');
    const baseUrl = addressIn(service.out());
    return { baseUrl, service, run: (args) => run(args, { env }), fetch: fetchFrom(baseUrl) };
  };
  const replicas = await Promise.all(Array.from({ length: count }, start));
  return { redis, replicas };
};

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
