import type { Exchange, Routed } from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import { type Fault, faultOf, shorten } from '../model/fault.ts';
import { runWhole } from '../model/machine.ts';
import type { Headers } from '../model/protocol.ts';
import { relayedRecords } from './pass-records.ts';
import { attemptsHeaders, jsonHeaders, routeHeader, streamHeaders } from './reply-headers.ts';
import type { StreamStage } from './rx/stages.ts';

/** Reports a fault and writes it in the client's error format: as a reply with a status, or as an open stream's last record. */
export const renderFaults = (): StreamStage<Exchange, ReplyPart, ReplyPart> => (exchange) => ({
  next: (part) => part,
  failed(error) {
    const fault = faultOf(error);
    exchange.observer.failed(fault, error);
    if (exchange.progress.opened) return { type: 'data', data: lastRecord(exchange, fault) };
    return isSentAsStream(exchange, fault) ? wholeStream(exchange, fault) : wholeFault(exchange, fault);
  },
});

const wholeFault = ({ client, id, progress }: Exchange, fault: Fault): ReplyPart => {
  const { status, body } = client.encodeFault(fault, id);
  const headers = { ...jsonHeaders, ...faultHeaders(fault), ...attemptsHeaders(progress) };
  return { type: 'whole', status, headers, body: JSON.stringify(body) };
};

const faultHeaders = ({ headers, from }: Fault): Headers => ({ ...headers, ...(from && routeHeader(from)) });

const isSentAsStream = ({ client, progress }: Exchange, { kind }: Fault): boolean =>
  progress.streaming && progress.context !== undefined && client.toldInStream?.has(kind) === true;

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
      ? [client.encodeBreak(fault, id, relayedRecords(progress))]
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
