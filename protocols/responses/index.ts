import type { ClientProtocol, UpstreamProtocol } from '../../engine/model/protocol.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeStream } from './decode-stream.ts';
import { encodeBreak } from './encode-break.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeStream } from './encode-stream.ts';
import { decodeFault, encodeFault } from './faults.ts';
import { fieldNames } from './field-names.ts';
import { holdsPacked } from './holds-packed.ts';
import { serverState } from './server-state.ts';

export { serverState } from './server-state.ts';

/** The Responses protocol as clients speak it. */
export const responsesClient: ClientProtocol = {
  wire: 'responses',
  decodeRequest,
  mends: holdsPacked,
  ownWireField: serverState,
  fieldNames,
  encodeStream,
  encodeReply,
  encodeFault,
  encodeBreak,
  keepAlive: ': keep-alive\n\n',
  terminators: [
    '\nevent: response.completed',
    '\nevent: response.incomplete',
    '\nevent: response.failed',
    '\nevent: error',
    '"type":"response.completed"',
    '"type":"response.incomplete"',
    '"type":"response.failed"',
    '"type": "response.completed"',
    '"type": "response.incomplete"',
    '"type": "response.failed"',
  ],
};

/** The Responses protocol as the gateway speaks it to an upstream. */
export const responsesUpstream: UpstreamProtocol = {
  wire: 'responses',
  encodeRequest,
  decodeStream,
  decodeReply,
  decodeFault,
  // Payloads come only where they are asked for.
  mayReason: ({ include }) => Array.isArray(include) && include.includes('reasoning.encrypted_content'),
};
