import { of } from 'rxjs';
import Type from 'typebox';
import { adminEndpoint, describe } from './endpoint.ts';
import { jsonReply } from './json-reply.ts';
import type { DocumentedRoute } from './operation-doc.ts';

/** Facts about the running service. */
export interface ServiceFacts {
  /** The configuration's folder. */
  readonly home: string;
  readonly baseUrl: string;
  /** Names of the configured providers. */
  readonly providers: readonly string[];
  readonly fleet: ServiceProcesses;
}

/** The processes of the service; times in milliseconds since 1970. */
interface ServiceProcesses {
  /** The process that receives signals for the whole service. */
  readonly pid: number;
  readonly startedAtMs: number;
  readonly restarts: number;
  /** Processes that accept new connections. */
  readonly workers: readonly { readonly pid: number; readonly startedAtMs: number }[];
}

const Worker = Type.Object({
  pid: Type.Integer(),
  startedAt: Type.String({ format: 'date-time' }),
});

const ServiceState = Type.Object({
  pid: Type.Integer({ description: 'The process that takes signals for the whole service.' }),
  startedAt: Type.String({ format: 'date-time' }),
  restarts: Type.Integer(),
  home: Type.String({ description: "The configuration's folder." }),
  baseUrl: Type.String(),
  providers: Type.Array(Type.String()),
  workers: Type.Array(Worker, { description: 'The processes that take new connections.' }),
  answeredBy: Type.Integer({ description: 'The process that gave this answer.' }),
});

/** `GET /api/service`: the serving processes, their start times, and the configuration's folder. */
export const serviceRoutes = (facts: () => ServiceFacts): readonly DocumentedRoute[] => [
  {
    method: 'GET',
    path: '/api/service',
    endpoint: adminEndpoint(() => of(jsonReply(show(facts())))),
    doc,
  },
];

const show = ({ home, baseUrl, providers, fleet }: ServiceFacts) => ({
  pid: fleet.pid,
  startedAt: new Date(fleet.startedAtMs).toISOString(),
  restarts: fleet.restarts,
  home,
  baseUrl,
  providers,
  workers: fleet.workers.map(({ pid, startedAtMs }) => ({ pid, startedAt: new Date(startedAtMs).toISOString() })),
  answeredBy: process.pid,
});

const doc = describe('Which processes serve', 'The processes.', ServiceState);
