import { of } from 'rxjs';
import { openEndpoint } from './endpoint.ts';
import { jsonReply } from './json-reply.ts';
import type { DocumentedRoute } from './operation-doc.ts';
import { liveDoc, readyDoc } from './operation-docs.ts';

/** Whether the service accepts requests. */
export interface Health {
  readonly draining: boolean;
  /** The configuration is invalid. */
  readonly misconfigured?: boolean;
}

/**
 * Health endpoints. `GET /health` and `/health/ready`: 200 while requests are served, else 503. `GET /health/live`: always 200,
 * so that a draining process isn't restarted. They call no upstream and reveal nothing else, so they need no key.
 */
export const healthRoutes = (health: () => Health): readonly DocumentedRoute[] => {
  const ready = openEndpoint(() => of(readyReply(health())));
  const live = openEndpoint(() => of(jsonReply({ status: 'ok' })));
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
