import { of } from 'rxjs';
import Type from 'typebox';
import type { DocumentedRoute, OperationDoc } from '../engine/http/documented-route.ts';
import type { WholeReply } from '../engine/http/endpoint.ts';
import { jsonReply, openEndpoint, ServiceFault } from './endpoint.ts';

/** Whether the service accepts requests. */
export interface Health {
  readonly draining: boolean;
  /** A changed module can't be used, so the one loaded before still is. */
  readonly hasStaleModules?: boolean;
}

/**
 * Health endpoints. `GET /health` and `/health/ready`: 200 while requests are served, else 503. `GET /health/live`: always 200,
 * so that a draining process isn't restarted. Balancers may ask these by any `Host`. `GET /`: clients check there that a service
 * exists before they start; browsers are led to the web interface. None calls an upstream or reveals anything else, so they need no key.
 */
export const healthRoutes = (health: () => Health): readonly DocumentedRoute[] => {
  const ready = { ...openEndpoint(() => of(readyReply(health()))), anyHost: true };
  const live = { ...openEndpoint(() => of(jsonReply({ status: 'ok' }))), anyHost: true };
  const root = openEndpoint(({ headers }) =>
    of(/\btext\/html\b/i.test(headers.accept ?? '') ? toInterface : jsonReply({ service: 'junctor' })),
  );
  return [
    { method: 'GET', path: '/health', endpoint: ready, doc: readyDoc },
    { method: 'GET', path: '/health/ready', endpoint: ready, doc: readyDoc },
    { method: 'GET', path: '/health/live', endpoint: live, doc: liveDoc },
    { method: 'GET', path: '/', endpoint: root, doc: rootDoc },
  ];
};

/** Relative, since a proxy may serve the gateway below a path of its own. */
const toInterface: WholeReply = {
  type: 'whole',
  status: 307,
  headers: { location: 'ui', 'cache-control': 'no-store', vary: 'accept' },
  body: '',
};

const readyReply = ({ draining, hasStaleModules }: Health) =>
  draining
    ? jsonReply({ status: 'draining' }, 503)
    : jsonReply({ status: 'ok', ...(hasStaleModules && { modules: 'stale' }) });

const status = (word: string) => ({ 'application/json': Type.Object({ status: Type.Literal(word) }) });

const readyDoc: OperationDoc = {
  summary: 'Whether requests are served',
  group: 'operation',
  answers: {
    200: {
      description:
        'They are. `modules` is there if a changed transformer or router module has a fault: the one loaded before is in use.',
      content: {
        'application/json': Type.Object({ status: Type.Literal('ok'), modules: Type.Optional(Type.Literal('stale')) }),
      },
    },
    503: { description: 'They are not.', content: status('draining') },
  },
  fault: ServiceFault,
};

const liveDoc: OperationDoc = {
  summary: 'Whether the process answers',
  group: 'operation',
  answers: { 200: { description: 'It does.', content: status('ok') } },
  fault: ServiceFault,
};

const rootDoc: OperationDoc = {
  summary: 'A sign of life for clients that look before they start',
  group: 'management',
  answers: {
    200: {
      description: 'The service is here.',
      content: { 'application/json': Type.Object({ service: Type.String() }) },
    },
    307: { description: 'For browsers, which ask for `text/html`: the web interface.' },
  },
  fault: ServiceFault,
};
