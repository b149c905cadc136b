import { of } from 'rxjs';
import type { Endpoint } from '../engine/http/endpoint.ts';
import { jsonReply } from './json-reply.ts';
import type { DocumentedRow } from './operation-doc.ts';
import { liveDoc, readyDoc } from './operation-docs.ts';
import { wordFault } from './word-fault.ts';

/** Tells whether the service takes requests. */
export interface Health {
  readonly draining: boolean;
  /** There is no configuration that can be used. */
  readonly misconfigured?: boolean;
}

/**
 * `GET /health` and `/health/ready`: 200 while requests are served, 503 otherwise. `GET /health/live`: 200 for as long as the
 * process answers at all, so that nobody restarts one that is draining. They ask nobody else and tell nothing else, so they
 * need no key.
 */
export const healthRows = (health: () => Health): readonly DocumentedRow[] => {
  const ready: Endpoint = { open: true, wordFault, handle: () => of(readyReply(health())) };
  const live: Endpoint = { open: true, wordFault, handle: () => of(jsonReply({ status: 'ok' })) };
  return [
    { method: 'GET', path: '/health', endpoint: ready, doc: readyDoc },
    { method: 'GET', path: '/health/ready', endpoint: ready, doc: readyDoc },
    { method: 'GET', path: '/health/live', endpoint: live, doc: liveDoc },
  ];
};

const readyReply = ({ draining, misconfigured = false }: Health) => {
  if (draining) return jsonReply({ status: 'draining' }, 503);
  return misconfigured ? jsonReply({ status: 'misconfigured' }, 503) : jsonReply({ status: 'ok' });
};
