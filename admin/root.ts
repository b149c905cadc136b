import { of } from 'rxjs';
import type { Row } from '../engine/http/site.ts';
import { jsonReply } from './json-reply.ts';
import { wordFault } from './word-fault.ts';

/** `GET /` and `HEAD /`: clients look here for a service before they start. */
export const rootRows: readonly Row[] = [
  {
    method: 'GET',
    path: '/',
    endpoint: { open: true, wordFault, handle: () => of(jsonReply({ service: 'switchyard' })) },
  },
];
