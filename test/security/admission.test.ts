import test, { type ExecutionContext } from 'ava';
import { of } from 'rxjs';
import { Agent, request } from 'undici';
import { formatFault } from '../../admin/endpoint.ts';
import { defaultSettings } from '../../engine/config/sections/service-settings.ts';
import { chooseServer } from '../../engine/http/choose-server.ts';
import { type Listener, type ListenOptions, listen } from '../../engine/http/listener.ts';
import { createRouter, type HttpRoute } from '../../engine/http/router.ts';
import { UwsUnavailable } from '../../engine/http/uws/uws.ts';
import { allowedHosts, type Door, headersOf, keyRows, statusOf, type Way, ways } from '../support/admission-table.ts';
import { startGateway } from '../support/gateway.ts';

/** The service's own routes, each of which answers 200 to whoever gets that far. */
const routesOf = async (t: ExecutionContext): Promise<readonly HttpRoute[]> => {
  const gateway = await startGateway({ LOG: false });
  t.teardown(gateway.stop);
  return gateway.routes.map(({ endpoint, ...route }) => ({
    ...route,
    endpoint: { ...endpoint, handle: () => of({ type: 'whole', status: 200, headers: {}, body: '{}' } as const) },
  }));
};

const doorOf = ({ endpoint: { open, forClients } }: HttpRoute): Door =>
  open ? 'open' : forClients ? 'clients' : 'administrator';

const nowhere: Pick<HttpRoute, 'method' | 'path'> = { method: 'GET', path: '/nothing-here' };

/** What a socket can show of a way: peers of this machine, and hosts that a client may send. Empty headers are left to the unit's test. */
const isSendable = ({ peer = '127.0.0.1', proxied, host, headers = {} }: Way): boolean =>
  (peer === '::1' || peer.startsWith('127.')) &&
  proxied === undefined &&
  host !== '' &&
  !Object.values(headers).includes('');

interface Rig {
  readonly listener: Listener;
  readonly update: (over: Pick<ListenOptions, 'apiKey' | 'clients' | 'proxies'>) => void;
  readonly ask: (route: Pick<HttpRoute, 'method' | 'path'>, way: Way, sent: string | undefined) => Promise<number>;
}

const open = async (t: ExecutionContext, server: 'uws' | 'node', routes: readonly HttpRoute[]): Promise<Rig> => {
  const options = {
    router: createRouter(routes, formatFault),
    guard: { host: '127.0.0.1', allowedHosts },
    limits: { ...defaultSettings().limits, connectionsPerClient: 10_000, requestsPerClient: 10_000 },
  };
  const listener = await listen({ ...options, host: '127.0.0.1', port: 0, server: chooseServer(server) });
  t.teardown(() => listener.close());
  const agents = new Map<string, Agent>();
  t.teardown(() => Promise.all([...agents.values()].map((agent) => agent.destroy())));
  const agentFor = (localAddress: string): Agent => {
    const agent = agents.get(localAddress) ?? new Agent({ connections: 20, connect: { localAddress } });
    agents.set(localAddress, agent);
    return agent;
  };
  return {
    listener,
    update: (over) => listener.update({ ...options, ...over }),
    async ask({ method, path }, way, sent) {
      const { peer = '127.0.0.1' } = way;
      const { port } = listener;
      const origin = peer === '::1' ? `http://[::1]:${port}` : `http://127.0.0.1:${port}`;
      const answer = await request(origin + path.replace(/:\w+/g, 'x').replace(/\*$/, 'x'), {
        // The border to undici, whose type lists the usual methods.
        method: method as 'GET',
        dispatcher: agentFor(peer),
        headers: headersOf(way, sent, port).flat(),
        ...(method !== 'GET' && method !== 'HEAD' && { body: '{}' }),
      });
      await answer.body.dump();
      return answer.statusCode;
    },
  };
};

const isMissing = (server: 'uws' | 'node'): boolean => {
  try {
    chooseServer(server);
    return false;
  } catch (error) {
    return error instanceof Error && error.cause instanceof UwsUnavailable;
  }
};

const byRoute: readonly { readonly kind: (typeof ways)[number]['kind']; readonly way: Way }[] = [
  { kind: 'direct', way: {} },
  { kind: 'detour', way: { headers: { 'x-forwarded-for': '127.0.0.1' } } },
  { kind: 'detour', way: { host: 'any.example' } },
  { kind: 'detour', way: { proxies: ['127.0.0.1'] } },
  { kind: 'foreign', way: { origin: 'http://localhost:3000' } },
];

for (const server of ['uws', 'node'] as const) {
  const serverTest = isMissing(server) ? test.skip : test;

  serverTest(`S4 ${server}: every route, by key and by way, gets what the table says`, async (t) => {
    t.timeout(300_000);
    const routes = await routesOf(t);
    t.true(routes.length > 50);
    const all = [...routes.map((route) => ({ route, door: doorOf(route) })), { route: nowhere, door: 'none' } as const];
    const { update, ask } = await open(t, server, routes);
    for (const row of keyRows) {
      for (const { kind, way } of byRoute) {
        update({ ...row.keys, proxies: way.proxies ?? [] });
        const got = await Promise.all(
          all.map(async ({ route, door }) => {
            const status = await ask(route, way, row.sent);
            return status === statusOf(row, kind, door) ? [] : [`${route.method} ${route.path}: ${status}`];
          }),
        );
        t.deepEqual(got.flat(), [], `${row.title}; ${kind} ${JSON.stringify(way)}`);
      }
    }
  });

  serverTest(`S4 ${server}: every way, by key, gets what the table says`, async (t) => {
    t.timeout(300_000);
    const routes = await routesOf(t);
    const samples = (['open', 'clients', 'administrator'] as const).flatMap((door) => {
      const route = routes.find(
        (one) => doorOf(one) === door && !one.endpoint.anyHost && one.method === (door === 'clients' ? 'POST' : 'GET'),
      );
      return route ? [{ door, route }] : [];
    });
    t.is(samples.length, 3);
    const { update, ask } = await open(t, server, routes);
    for (const row of keyRows) {
      for (const { kind, way } of ways.filter((one) => isSendable(one.way))) {
        update({ ...row.keys, proxies: way.proxies ?? [] });
        const doors = [...samples, { door: 'none', route: nowhere } as const];
        const got = await Promise.all(doors.map(({ route }) => ask(route, way, row.sent)));
        const expected = doors.map(({ door }) => statusOf(row, kind, door));
        t.deepEqual(got, expected, `${row.title}; ${kind} ${JSON.stringify(way)}`);
      }
    }
  });
}
