import type { Fault } from '../../engine/model/fault.ts';
import { failure } from './faults.ts';

/**
 * `response.failed` as SSE text for a stream that was relayed and broke off. What came before is not known here, so neither
 * is the event's number, the answer's id nor its items; clients go by the type and the error.
 */
export const encodeBreak = (fault: Fault, requestId: string): string => {
  const response = {
    id: `resp_${requestId}`,
    object: 'response',
    created_at: 0,
    status: 'failed',
    error: failure(fault),
    incomplete_details: null,
    model: '',
    output: [],
    usage: null,
  };
  const event = { type: 'response.failed', sequence_number: 0, response };
  return `\n\nevent: response.failed\ndata: ${JSON.stringify(event)}\n\n`;
};
