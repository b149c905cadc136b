import { of } from 'rxjs';
import type { HttpRoute } from '../engine/http/router.ts';
import { openEndpoint } from './endpoint.ts';
import { jsonReply } from './json-reply.ts';

/** `GET /` and `HEAD /`: clients check here that a service exists before they start. */
export const rootRoutes: readonly HttpRoute[] = [
  {
    method: 'GET',
    path: '/',
    endpoint: openEndpoint(() => of(jsonReply({ service: 'switchyard' }))),
  },
];
