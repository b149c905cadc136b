import { from, mergeMap, type Observable, of } from 'rxjs';
import Type from 'typebox';
import { adminEndpoint, jsonReply, readJsonBody } from '../../../../admin/endpoint.ts';
import { ReplayRequest } from '../../../../admin/schema.ts';
import { findProvider } from '../../../config/sections/destination.ts';
import type { OperationDoc, RouteOperation } from '../../../http/documented-route.ts';
import type { HttpRequest, ReplyPart } from '../../../http/endpoint.ts';
import { fail } from '../../../model/fault.ts';
import { parseJson } from '../../../model/json/json.ts';
import type { ClientProtocol } from '../../../model/protocol.ts';
import { reader } from '../../../model/schema.ts';
import type { Gateway } from '../../../routing/gateway.ts';
import { RequestDetail } from '../../record/schema.ts';
import { readReplayable, replay } from '../replay.ts';
import type { SharedHistory } from '../shared-history.ts';

/** Dependencies of the replay endpoint. */
export interface ReplayParts {
  readonly requests: Pick<SharedHistory, 'find'>;
  readonly protocols: readonly ClientProtocol[];
  /** Returns the current gateway, or that of a preset. */
  readonly gatewayOf: (preset: string | undefined) => Promise<Gateway>;
}

const requestReader = reader(ReplayRequest, { compiled: false });
const detailReader = reader(RequestDetail);

/**
 * `POST /api/requests/{id}/replay`: replays the recorded upstream bytes through the current plan to that provider and model.
 * Replies like a model route. Calls no upstream.
 */
export const replayOperation = (parts: ReplayParts): RouteOperation => ({
  endpoint: adminEndpoint((incoming, { id = '' }) =>
    from(parts.requests.find(id)).pipe(mergeMap(({ capture }) => play(capture ?? noCapture(), incoming, parts))),
  ),
  doc: replayDoc,
});

const noCapture = (): never => fail('not-found', 'There is no capture of that id, or not any more.');

const play = (text: string, incoming: HttpRequest, { protocols, gatewayOf }: ReplayParts): Observable<ReplyPart> => {
  const wanted = requestReader.read(incoming.body.length === 0 ? {} : readJsonBody(incoming.body));
  // The text was written by this process; the reader restores its type.
  const detail = detailReader.read(parseJson(text));
  const replayable = readReplayable(detail);
  if (typeof replayable === 'string') return of(conflictReply(replayable));
  const { summary, provider } = replayable;
  const protocolOf = (wire: string): ClientProtocol =>
    protocols.find((client) => client.wire === wire) ?? fail('invalid-request', `client ${wire} is not served here.`);
  const settings = {
    id: incoming.id,
    startedAtMs: incoming.startedAtMs,
    backpressure: incoming.backpressure,
    recorded: protocolOf(summary.protocol),
    client: protocolOf(wanted.client ?? summary.protocol),
    speed: wanted.speed ?? 0,
    stream: wanted.stream,
  };
  return from(gatewayOf(summary.preset)).pipe(
    mergeMap((gateway) =>
      findProvider(gateway.config.providers, provider)
        ? replay(replayable, settings, gateway)
        : of(conflictReply(`The provider ${JSON.stringify(provider)} is not configured any more.`)),
    ),
  );
};

const conflictReply = (message: string): ReplyPart => jsonReply({ success: false, message }, 409);

const replayDoc: OperationDoc = {
  summary: "A captured upstream's answer once more, through today's configuration",
  group: 'management',
  request: ReplayRequest,
  answers: {
    200: {
      description: 'The answer, in the client protocol asked for.',
      content: { 'application/json': Type.Unknown(), 'text/event-stream': Type.String() },
    },
  },
  fault: Type.Unknown({ description: "The service's own error, or the client protocol's." }),
};
