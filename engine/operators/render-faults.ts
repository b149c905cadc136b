import { catchError, type Observable, type OperatorFunction, of } from 'rxjs';
import type { Exchange } from '../exchange.ts';
import { type Fault, FaultError, faultOf } from '../model/fault.ts';
import { runWhole } from '../model/machine.ts';
import type { ReplyPart } from '../reply-part.ts';
import type { Yard } from '../yard/yard.ts';
import { attemptsHeaders } from './attempts-header.ts';
import { jsonHeaders } from './headers.ts';

/** A fault → the client's own error shape: with a status while there can be one, else as the stream's last record. */
export const renderFaults = (exchange: Exchange, yard: Yard): OperatorFunction<ReplyPart, ReplyPart> =>
  catchError((error: unknown): Observable<ReplyPart> => {
    const fault = faultOf(error);
    report(exchange, yard, fault, error);
    return of(exchange.delivery.opened ? lastRecord(exchange, fault) : wholeFault(exchange, fault));
  });

const wholeFault = ({ client, id, delivery }: Exchange, fault: Fault): ReplyPart => {
  const { status, body } = client.encodeFault(fault, id);
  const headers = { ...jsonHeaders, ...fault.headers, ...attemptsHeaders(delivery) };
  return { type: 'whole', status, headers, body: JSON.stringify(body) };
};

/** An answer that hasn't begun needs its beginning first, as the client's protocol has it. */
const lastRecord = ({ client, id, delivery }: Exchange, fault: Fault): ReplyPart => {
  const { begun, context } = delivery;
  const texts =
    begun || !context
      ? [client.encodeBreak(fault, id)]
      : runWhole(client.encodeStream, context, [{ type: 'error', fault }]);
  return { type: 'data', data: texts.join('') };
};

const report = ({ id }: Exchange, yard: Yard, fault: Fault, error: unknown): void => {
  const { kind, message, status, param } = fault;
  const fields = { requestId: id, kind, status, param };
  if (!(error instanceof FaultError)) yard.log.error('internal error', { ...fields, stack: stackOf(error) });
  else if (error.cause !== undefined) yard.log.error(message, { ...fields, stack: stackOf(error.cause) });
  else yard.log.warn(message, fields);
};

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
