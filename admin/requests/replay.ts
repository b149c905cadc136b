import { from, mergeMap, type Observable, of } from 'rxjs';
import Type from 'typebox';
import { findProvider } from '../../engine/config/sections/destination.ts';
import { readReplayable, replay } from '../../engine/features/history/replay.ts';
import type { SharedHistory } from '../../engine/features/history/shared-history.ts';
import { RequestDetail } from '../../engine/features/record/schema.ts';
import type { DocumentedRoute, OperationDoc } from '../../engine/http/documented-route.ts';
import type { HttpRequest, ReplyPart } from '../../engine/http/endpoint.ts';
import { fail } from '../../engine/model/fault.ts';
import { parseJson } from '../../engine/model/json/json.ts';
import type { ClientProtocol } from '../../engine/model/protocol.ts';
import { reader } from '../../engine/model/schema.ts';
import type { Gateway } from '../../engine/routing/gateway.ts';
import { adminEndpoint, jsonReply, readJsonBody } from '../endpoint.ts';
import { ReplayRequest } from '../schema.ts';

/** Dependencies of the replay endpoint. */
export interface ReplayParts {
  readonly requests: Pick<SharedHistory, 'find'>;
  readonly clients: readonly ClientProtocol[];
  /** Returns the current gateway, or that of a preset. */
  readonly gatewayOf: (preset: string | undefined) => Promise<Gateway>;
}

const requestReader = reader(ReplayRequest, { compiled: false });
const detailReader = reader(RequestDetail);

/**
 * `POST /api/requests/{id}/replay`: replays the recorded upstream bytes through the current plan to that provider and model.
 * Replies like a model route. Calls no upstream.
 */
export const replayRoutes = (parts: ReplayParts): readonly DocumentedRoute[] => [
  {
    method: 'POST',
    path: '/api/requests/:id/replay',
    endpoint: adminEndpoint((incoming, { id = '' }) =>
      from(parts.requests.find(id)).pipe(mergeMap(({ capture }) => play(capture ?? noCapture(), incoming, parts))),
    ),
    doc: replayDoc,
  },
];

const noCapture = (): never => fail('not-found', 'There is no capture of that id, or not any more.');

const play = (text: string, incoming: HttpRequest, { clients, gatewayOf }: ReplayParts): Observable<ReplyPart> => {
  const wanted = requestReader.read(incoming.body.length === 0 ? {} : readJsonBody(incoming.body));
  // The text was written by this process; the reader restores its type.
  const detail = detailReader.read(parseJson(text));
  const replayable = readReplayable(detail);
  if (typeof replayable === 'string') return of(conflictReply(replayable));
  const { summary, provider } = replayable;
  const protocolOf = (wire: string): ClientProtocol =>
    clients.find((client) => client.wire === wire) ?? fail('invalid-request', `client ${wire} is not served here.`);
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
      says: 'The answer, in the client protocol asked for.',
      content: { 'application/json': Type.Unknown(), 'text/event-stream': Type.String() },
    },
  },
  fault: Type.Unknown({ description: "The service's own error, or the client protocol's." }),
};
