import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import type { Cli } from '../cli.ts';
import { formerNotice } from '../former-name.ts';
import { callService, locateService, type ServiceLocation } from '../reach-service.ts';

/** Exit statuses of `status`. Source: Linux Standard Base, "Init Script Actions". */
const exitCodes = { running: 0, silent: 4, stale: 1, none: 3 } as const;

/** `junctor status`: prints the state and facts of the service. Returns the exit code. */
export const status = async (cli: Cli, { json = false }: { readonly json?: boolean }): Promise<number> => {
  const located = await locateService(cli);
  const { found } = located;
  const [facts, fleet, { keyRefusals }] = await Promise.all([
    factsOf(located, '/api/service'),
    factsOf(located, '/api/fleet'),
    factsOf(located, '/api/clients'),
  ]);
  if (json)
    cli.print(
      JSON.stringify(
        {
          state: found.type,
          ...factsOnly(located, facts),
          ...(keyRefusals !== undefined && { keyRefusals }),
          ...(fleet.store && { fleet }),
        },
        null,
        2,
      ),
    );
  else {
    for (const line of lines(cli, located, { ...facts, keyRefusals }, fleet)) cli.print(line);
    const former = formerNotice(cli.env, cli.home);
    if (former !== undefined) cli.print(`  note           ${former}`);
  }
  return exitCodes[found.type];
};

const factsOf = async (located: ServiceLocation, path: string): Promise<JsonObject> => {
  if (located.found.type !== 'running') return {};
  const answer = await callService(located, 'GET', path).catch(() => undefined);
  return answer?.status === 200 ? answer.body : {};
};

const factsOnly = ({ found, config, baseUrl }: ServiceLocation, facts: JsonObject): JsonObject => ({
  ...('pid' in found && { pid: found.pid }),
  ...(found.type === 'running' && {
    baseUrl,
    port: Number(new URL(baseUrl).port),
    startedAt: dateOf(found.startedAtMs),
  }),
  providers: config?.providers.map(({ name }) => name) ?? [],
  ...facts,
});

const lines = ({ home }: Cli, located: ServiceLocation, facts: JsonObject, fleet: JsonObject): readonly string[] => {
  const { found } = located;
  if (found.type === 'none') return ['Junctor is not running.'];
  if (found.type === 'stale') {
    return [`Junctor is not running. Process ${found.pid} left a stale file; \`junctor stop\` removes it.`];
  }
  if (found.type === 'silent') return [`Junctor ${silences[found.state]} (process ${found.pid}).`];
  const { providers, workers, restarts, http } = factsOnly(located, facts);
  const pids = Array.isArray(workers) ? workers.map(pidOf) : [];
  return [
    `Junctor is running on ${located.baseUrl}`,
    `  port           ${new URL(located.baseUrl).port}`,
    `  process        ${found.pid}, since ${dateOf(found.startedAtMs)}${restarts ? `, restarted ${restarts}×` : ''}`,
    ...(pids.length > 0 ? [`  workers        ${pids.join(', ')}`] : []),
    `  providers      ${Array.isArray(providers) && providers.length > 0 ? providers.join(', ') : 'none'}`,
    ...(isJsonObject(http)
      ? [`  HTTP server    ${http.server === 'uws' ? 'uWebSockets.js' : 'node:http'} (${http.reason})`]
      : []),
    `  configuration  ${home}`,
    ...(Number(facts.keyRefusals) > 0 ? [`  refused        ${facts.keyRefusals} requests without a valid key`] : []),
    ...fleetLines(fleet),
  ];
};

/** The machines that share a store; none without `FLEET`. */
const fleetLines = ({ store, drift, members }: JsonObject): readonly string[] => {
  if (!isJsonObject(store)) return [];
  const rows = (Array.isArray(members) ? members : []).filter(isJsonObject);
  return [
    `  fleet          ${store.up === true ? 'the store answers' : `THE STORE FAILS, limits go on by shares: ${store.problem ?? 'no answer yet'}`}`,
    ...(drift === true ? ['                 CONFIGURATIONS DIFFER for more than 60 s'] : []),
    ...rows.map(
      ({ machine, pid, address, version, config, streams, isStranger }) =>
        `                 ${machine} ${pid}, ${address}, ${version}, configuration ${config}, ${streams} streams${isStranger === true ? ', ANOTHER FLEET.key' : ''}`,
    ),
  ];
};

const silences = {
  starting: 'is starting',
  serving: 'is not responding, but its process is running',
  stopping: 'is stopping and waits for active streams',
} as const;

const pidOf = (worker: unknown): unknown =>
  typeof worker === 'object' && worker !== null && 'pid' in worker ? worker.pid : '?';

const dateOf = (ms: number): string => new Date(ms).toISOString();
