import { defer, of } from 'rxjs';
import Type from 'typebox';
import type { Fleet } from '../engine/workers/fleet.ts';
import { jsonReply } from './json-reply.ts';
import type { DocumentedRow, OperationDoc } from './operation-doc.ts';
import { ServiceFault } from './operation-docs.ts';
import { wordFault } from './word-fault.ts';

/** What the service tells of itself. */
export interface ServiceFacts {
  /** The configuration's folder. */
  readonly home: string;
  readonly baseUrl: string;
  /** Their names. */
  readonly providers: readonly string[];
  readonly fleet: Fleet;
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

/** `GET /api/service`: which processes serve, since when, and on which configuration. */
export const serviceRows = (facts: () => ServiceFacts): readonly DocumentedRow[] => [
  {
    method: 'GET',
    path: '/api/service',
    endpoint: { open: false, wordFault, handle: () => defer(() => of(jsonReply(show(facts())))) },
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

const doc: OperationDoc = {
  summary: 'Which processes serve',
  group: 'management',
  answers: { 200: { says: 'The processes.', content: { 'application/json': ServiceState } } },
  fault: ServiceFault,
};
