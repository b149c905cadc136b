import { defer, from, mergeMap, type Observable, of } from 'rxjs';
import type { Incoming } from '../engine/http/incoming.ts';
import { fail } from '../engine/model/fault.ts';
import { parseJson } from '../engine/model/json.ts';
import type { ClientProtocol } from '../engine/model/protocol.ts';
import { reader } from '../engine/model/schema.ts';
import type { ReplyPart } from '../engine/reply-part.ts';
import { RequestDetail } from '../engine/requests/capture.ts';
import { readReplayable, replay } from '../engine/requests/replay.ts';
import type { Requests } from '../engine/requests/requests.ts';
import { findProvider } from '../engine/routing/destination.ts';
import type { Yard } from '../engine/yard/yard.ts';
import { jsonReply } from './json-reply.ts';
import type { DocumentedRow } from './operation-doc.ts';
import { readJsonBody } from './read-json-body.ts';
import { ReplayRequest, replayDoc } from './request-docs.ts';
import { wordFault } from './word-fault.ts';

/** What replaying needs of the service. */
export interface ReplayParts {
  readonly requests: Requests;
  readonly clients: readonly ClientProtocol[];
  /** The yard as it is now: that of a preset, or the configuration's own. */
  readonly yardOf: (preset: string | undefined) => Promise<Yard>;
}

const requestReader = reader(ReplayRequest);
const detailReader = reader(RequestDetail);

/**
 * `POST /api/requests/{id}/replay`: the upstream's recorded bytes through today's line to that provider and model, answered as a client
 * would be. No upstream is called.
 */
export const replayRows = (parts: ReplayParts): readonly DocumentedRow[] => [
  {
    method: 'POST',
    path: '/api/requests/:id/replay',
    endpoint: {
      open: false,
      wordFault,
      handle: (incoming, { id = '' }) =>
        defer(() => from(parts.requests.captures.find(id))).pipe(
          mergeMap((text) => play(text ?? noCapture(), incoming, parts)),
        ),
    },
    doc: replayDoc,
  },
];

const noCapture = (): never => fail('not-found', 'There is no capture of that id, or not any more.');

const play = (text: string, incoming: Incoming, { clients, yardOf }: ReplayParts): Observable<ReplyPart> => {
  const wanted = requestReader.read(incoming.body.length === 0 ? {} : readJsonBody(incoming.body));
  // Its own text, read back.
  const detail = detailReader.read(parseJson(text));
  const replayable = readReplayable(detail);
  if (typeof replayable === 'string') return of(refused(replayable));
  const { summary, provider } = replayable;
  const protocolOf = (wire: string): ClientProtocol =>
    clients.find((client) => client.wire === wire) ?? fail('invalid-request', `client ${wire} is not served here.`);
  const settings = {
    id: incoming.id,
    startedAtMs: incoming.startedAtMs,
    flow: incoming.flow,
    recorded: protocolOf(summary.protocol),
    client: protocolOf(wanted.client ?? summary.protocol),
    speed: wanted.speed ?? 0,
    stream: wanted.stream,
  };
  return from(yardOf(summary.preset)).pipe(
    mergeMap((yard) =>
      findProvider(yard.config.providers, provider)
        ? replay(replayable, settings, yard)
        : of(refused(`The provider ${JSON.stringify(provider)} is not configured any more.`)),
    ),
  );
};

const refused = (message: string): ReplyPart => jsonReply({ success: false, message }, 409);
