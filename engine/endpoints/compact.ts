import { mergeMap, type Observable, of } from 'rxjs';
import type { Answered, Exchange, Ready } from '../exchange.ts';
import type { Feature } from '../feature.ts';
import type { Endpoint, ReplyPart } from '../http/endpoint.ts';
import type { Usage } from '../model/event.ts';
import { unsupported } from '../model/fault.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import { boundReply, endInTurn } from '../operators/bound-answer.ts';
import { callUpstream } from '../operators/call-upstream.ts';
import { readUsage } from '../operators/read-events.ts';
import { sequence } from '../operators/rx/sequence.ts';
import { collectBytes, stages } from '../operators/rx/stages.ts';
import { jsonHeaders, limitHeaders, renderFaults, routeHeaders } from '../operators/write-reply.ts';
import type { CurrentGateway, Gateway } from '../routing/gateway.ts';
import { type AuxiliaryEndpoint, auxiliaryCall, auxiliaryEndpoint, prepareAuxiliary } from './count-tokens.ts';

/**
 * The pipeline of a request to compact a conversation. Only the vendor that compacted it can read the result, so it needs an
 * upstream of the client's wire format, whose answer is returned verbatim; otherwise an `unsupported` fault.
 */
const compact = (exchange: Exchange, gateway: Gateway, upstream: AuxiliaryEndpoint): Observable<ReplyPart> =>
  of(exchange).pipe(
    prepareAuxiliary(gateway),
    sequence((ready) => auxiliaryCall(checkUpstream(ready), upstream), callUpstream(gateway)),
    mergeMap((answered) =>
      endInTurn(answered.answer.body).pipe(
        stages(boundReply(gateway.config.limits))(answered),
        collectBytes((bytes): ReplyPart => {
          const body = new TextDecoder().decode(bytes);
          answered.observer.counted(usageIn(body, answered));
          return {
            type: 'whole',
            status: answered.answer.status,
            headers: { ...jsonHeaders, ...limitHeaders(answered.answer.headers), ...routeHeaders(answered) },
            body,
          };
        }),
      ),
    ),
    stages(renderFaults(gateway.config))(exchange),
  );

const usageIn = (body: string, { plan, context }: Answered): Usage => {
  const reply = parseJson(body);
  if (!isJsonObject(reply)) return {};
  return plan.upstream.decodeReply(reply, context).reduce<Usage>((known, event) => readUsage(event, known), {});
};

const checkUpstream = (ready: Ready): Ready => {
  const { client, plan } = ready;
  return plan.upstream.wire === client.wire
    ? ready
    : unsupported(
        'model',
        `A conversation can only be compacted by an upstream that speaks the ${client.wire} format itself; this route's doesn't.`,
      );
};

/** Endpoint for compaction requests; each uses the gateway of that moment. */
export const compactEndpoint = (
  client: ClientProtocol,
  upstream: AuxiliaryEndpoint,
  current: CurrentGateway,
  admit?: Feature['admit'],
): Endpoint =>
  auxiliaryEndpoint({ client, current, use: 'answer', admit }, (exchange, gateway) =>
    compact(exchange, gateway, upstream),
  );
