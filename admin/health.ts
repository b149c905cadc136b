import { of } from 'rxjs';
import type { Row } from '../engine/http/site.ts';
import { jsonReply } from './json-reply.ts';
import { wordFault } from './word-fault.ts';

/** Tells whether the service takes requests. */
export interface Health {
  readonly draining: boolean;
}

/** `GET /health`: 200 while requests are served, 503 once the service is stopping. Tells nothing else, so it needs no key. */
export const healthRows = (health: () => Health): readonly Row[] => [
  {
    method: 'GET',
    path: '/health',
    endpoint: {
      open: true,
      wordFault,
      handle: () => of(health().draining ? jsonReply({ status: 'draining' }, 503) : jsonReply({ status: 'ok' })),
    },
  },
];
