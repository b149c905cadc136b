import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { map, type Observable } from 'rxjs';
import { Exchange } from '../../exchange.ts';
import type { ReplyPart } from '../../http/endpoint.ts';
import type { Fault } from '../../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson, writeJson } from '../../model/json/json.ts';
import { type ClientProtocol, clientAt } from '../../model/protocol.ts';
import { quietLogs } from '../../observe/log/logs.ts';
import { createLossCounter } from '../../observe/loss-counter.ts';
import { createPipeline } from '../../pipeline.ts';
import type { Gateway } from '../../routing/gateway.ts';
import { createSignatureCache } from '../../routing/reasoning/signature-cache.ts';
import { TaughtMemory } from '../../routing/taught.ts';
import type { Backpressure } from '../../runtime/backpressure.ts';
import { playRecording, type RecordedAnswer } from '../../upstream/play-recording.ts';
import type { UpstreamCall } from '../../upstream/upstreams.ts';
import type { Capture, RequestDetail, RequestSummary } from '../record/schema.ts';
import { chunkBytes } from './capture-file.ts';

/** A capture that can be replayed. */
interface Replayable {
  readonly summary: RequestSummary;
  readonly provider: string;
  readonly model: string;
  readonly asked: JsonObject;
  readonly clientHeaders: Readonly<Record<string, string>>;
  readonly recording: RecordedAnswer;
}

/** Settings of a replay. */
interface ReplaySettings {
  /** Id of the replay request. */
  readonly id: string;
  readonly startedAtMs: number;
  readonly backpressure: Backpressure;
  /** Client protocol of the recorded request. */
  readonly recorded: ClientProtocol;
  /** Client protocol of the reply. */
  readonly client: ClientProtocol;
  /** Speed factor relative to the recording; 0: without delays. */
  readonly speed: number;
  /** Absent: as recorded. */
  readonly stream: boolean | undefined;
  /** Gets each call that would be made. */
  readonly called?: (call: UpstreamCall) => void;
}

/** Reads a capture for replay; returns the reason for users if it can't be replayed. */
export const readReplayable = ({ summary, capture }: RequestDetail): Replayable | string => {
  if (!capture) return 'The request was not captured.';
  const { client, upstream, timing } = capture;
  const { provider, model } = summary;
  if (!upstream || upstream.status === null || provider === undefined || model === undefined) {
    return 'The capture holds no answer of an upstream.';
  }
  if (upstream.ended === 'abandoned')
    return "The capture holds only a part of the upstream's answer: the client went before its end.";
  if (capture.unasked && upstream.ended !== 'complete') {
    return "The capture holds only the end of the upstream's answer: it was made because the request failed.";
  }
  if (upstream.truncated) return "The upstream's answer was too large to be kept whole, so it can't be played.";
  if (client.truncated) return "The client's body was too large to be kept whole, so its answer can't be played.";
  const asked = parseJson(client.body);
  if (!isJsonObject(asked)) return "The client's body can't be read any more.";
  const { status, responseHeaders: headers, fault } = upstream;
  const atMs = (name: string): number => timing.find((mark) => mark.name === name)?.atMs ?? 0;
  const headAtMs = atMs('upstreamHead');
  return {
    summary,
    provider,
    model,
    asked,
    clientHeaders: client.headers,
    recording: {
      status,
      headers,
      headMs: headAtMs - atMs('called'),
      chunks: upstream.chunks.map((chunk) => ({ atMs: chunk.atMs - headAtMs, bytes: chunkBytes(chunk) })),
      fault: fault && faultFrom(fault),
    },
  };
};

/**
 * Replays the recorded answer through the gateway's plan to that provider and model, for a client of `settings.client`. Calls
 * no upstream, counts and logs nothing, and doesn't change the signature cache.
 */
export const replay = (replayable: Replayable, settings: ReplaySettings, gateway: Gateway): Observable<ReplyPart> => {
  const { asked, recording, provider, model, clientHeaders, summary } = replayable;
  const { id, startedAtMs, backpressure, recorded, client, speed, stream = summary.stream, called } = settings;
  const { decodeRequest } = clientAt(recorded, summary.path);
  const named = { model: `${provider},${model}`, stream };
  const body: JsonObject = client === recorded ? { ...asked, ...named } : named;
  const playing: Gateway = {
    ...gateway,
    upstreams: playRecording(recording, speed, called),
    log: quietLogs.app,
    losses: createLossCounter(),
    signatures: createSignatureCache(),
    taught: new TaughtMemory(),
  };
  const exchange = new Exchange({
    incoming: {
      id,
      startedAtMs,
      body: Buffer.from(writeJson(body)),
      header: (name) => clientHeaders[name],
      backpressure,
    },
    seed: randomBytes(12).toString('hex'),
    // The recorded request keeps its own protocol, regardless of the reply's.
    client: { ...client, decodeRequest: (_, decoding) => decodeRequest({ ...asked, ...named }, decoding) },
  });
  return createPipeline(playing)(exchange).pipe(
    map((part) =>
      part.type === 'data' ? part : { ...part, headers: { ...part.headers, [replayHeader]: summary.id } },
    ),
  );
};

/** Response header with the id of the replayed request. */
const replayHeader = 'x-junctor-replay';

/** A recording can only end with one of these faults. */
const faultFrom = ({ kind, message }: NonNullable<NonNullable<Capture['upstream']>['fault']>): Fault => ({
  kind: kind === 'upstream-timeout' || kind === 'upstream-garbled' ? kind : 'upstream-cut',
  message,
});
