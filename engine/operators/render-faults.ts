import type { Answered, Exchange, Routed } from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { type Fault, FaultError, faultOf, shorten } from '../model/fault.ts';
import { runWhole } from '../model/machine.ts';
import type { Headers } from '../model/protocol.ts';
import { hideCredentials } from './hide-credentials.ts';
import { passedRecords } from './pass-records.ts';
import type { StreamStage } from './rx/stages.ts';
import { attemptsHeaders, jsonHeaders, routeHeader, streamHeaders } from './write-reply.ts';

/**
 * Reports a fault and writes it in the client's error format: as a reply with a status, or as an open stream's last record. An
 * interruption of the request is such a fault.
 */
export const renderFaults = (): StreamStage<Exchange, ReplyPart, ReplyPart> => (exchange, control) => {
  let isOver = false;
  const failed = (error: unknown): ReplyPart => {
    const fault = faultOf(error);
    exchange.observer.failed(fault, error);
    if (exchange.progress.opened) return { type: 'data', data: lastRecord(exchange, fault) };
    return isSentAsStream(exchange, fault) ? wholeStream(exchange, fault) : wholeFault(exchange, fault);
  };
  exchange.onInterrupted?.((fault) => {
    if (isOver) return;
    control.emit(failed(new FaultError(fault)));
    control.complete();
  });
  return {
    next: (part) => part,
    failed,
    finalize() {
      isOver = true;
    },
  };
};

const wholeFault = ({ client, id, progress }: Exchange, fault: Fault): ReplyPart => {
  const { status, body } = client.encodeFault(fault, id);
  const headers = { ...jsonHeaders, ...faultHeaders(fault), ...attemptsHeaders(progress) };
  return { type: 'whole', status, headers, body: JSON.stringify(body) };
};

const faultHeaders = ({ headers, from }: Fault): Headers => ({ ...headers, ...(from && routeHeader(from)) });

const isSentAsStream = ({ client, progress }: Exchange, { kind }: Fault): boolean =>
  progress.streaming && progress.context !== undefined && client.inStreamFaults?.has(kind) === true;

/** A stream that holds only the fault. */
const wholeStream = (exchange: Exchange, fault: Fault): ReplyPart => ({
  type: 'whole',
  status: 200,
  headers: { ...streamHeaders, ...faultHeaders(fault), ...attemptsHeaders(exchange.progress) },
  body: lastRecord(exchange, fault),
});

/** If the answer hasn't begun, the client's protocol writes its opening events first. */
const lastRecord = ({ client, id, progress }: Exchange, fault: Fault): string => {
  const { begun, context } = progress;
  const texts =
    begun || !context
      ? [client.encodeBreak(fault, id, passedRecords(progress))]
      : runWhole(client.encodeStream, context, [{ type: 'error', fault }]);
  return texts.join('');
};

/** Adds the provider and the model to a fault. They come last, since clients match the start of messages. */
export const nameDestination = (fault: Fault, { resolution }: Pick<Routed, 'resolution'>): Fault => {
  if (fault.from) return fault;
  const { model, scenario } = resolution;
  const provider = resolution.provider.name;
  const from = { provider, model, scenario };
  if (!fault.kind.startsWith('upstream-')) return { ...fault, from };
  return { ...fault, from, message: `${fault.message} (provider ${provider}, model ${shorten(model)})` };
};

/**
 * Ends the events at an `error` event. While nothing of the answer has reached the client the fault is thrown instead: a retry
 * or fallback may still answer, and otherwise the answer can have the fault's own status.
 */
export const endOnFault = (): StreamStage<Answered, Batch, Batch> => (answered, control) => ({
  next(batch) {
    const at = batch.findIndex(isError);
    const error = batch[at];
    if (error?.type !== 'error') return batch;
    const hidden = hideCredentials(error.fault, answered.call.headers);
    if (!answered.progress.begun) throw new FaultError(hidden);
    const fault = nameDestination(hidden, answered);
    answered.progress.broken = fault;
    answered.observer.fault(fault);
    control.complete();
    return [...batch.slice(0, at), { type: 'error', fault }];
  },
});

const isError = ({ type }: ModelEvent): boolean => type === 'error';

/** Reports what the client gets: the parts, the first byte of the answer, and the final status. Must be the last stage. */
export const observeReply =
  (): StreamStage<Exchange, ReplyPart, ReplyPart> =>
  ({ observer, progress }) => {
    let sent = 500;
    let status = clientClosed;
    return {
      next(part) {
        observer.part(part);
        if (part.type === 'data') {
          observer.opened();
          if (progress.begun) observer.firstByte();
        } else if (part.type === 'head') sent = part.status;
        else {
          // Set now: the subscriber may unsubscribe as soon as it has a whole reply.
          status = sent = part.status;
          observer.firstByte();
        }
        return part;
      },
      end() {
        status = sent;
        return undefined;
      },
      failed(error) {
        status = 500;
        throw error;
      },
      finalize: () => observer.finished(status),
    };
  };

/** The status of a request whose client closed the connection before the answer was complete. */
const clientClosed = 499;
