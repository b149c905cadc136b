import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { map, type Observable } from 'rxjs';
import { newDelivery } from '../exchange.ts';
import type { Flow } from '../flow.ts';
import { quietLogs } from '../log/quiet-logs.ts';
import { createLossCounter } from '../loss-counter.ts';
import { silentMeter } from '../metrics/request-meter.ts';
import type { Fault } from '../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../model/json.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import { serve } from '../pipeline.ts';
import type { ReplyPart } from '../reply-part.ts';
import { createSignatureMemory } from '../signatures/memory.ts';
import type { Yard } from '../yard/yard.ts';
import type { Capture, Chunk, RequestDetail } from './capture.ts';
import { playRecording, type Recording } from './play-recording.ts';
import type { RequestSummary } from './summary.ts';

/** A capture that can be played once more. */
export interface Replayable {
  readonly summary: RequestSummary;
  readonly provider: string;
  readonly model: string;
  readonly asked: JsonObject;
  readonly clientHeaders: Readonly<Record<string, string>>;
  readonly recording: Recording;
}

/** How it is played. */
export interface ReplaySettings {
  /** The id of the request that asks for it. */
  readonly id: string;
  readonly startedAtMs: number;
  readonly flow: Flow;
  /** What the request was written in. */
  readonly recorded: ClientProtocol;
  /** What the answer is to be written in. */
  readonly client: ClientProtocol;
  /** Times as fast as it was recorded; 0: at once. */
  readonly speed: number;
  /** Absent: as it was asked for. */
  readonly stream: boolean | undefined;
}

/** What a capture's replay needs of it, or why it can't be played, in words for users. */
export const readReplayable = ({ summary, capture }: RequestDetail): Replayable | string => {
  if (!capture) return 'The request was not captured.';
  const { client, upstream, timing } = capture;
  const { provider, model } = summary;
  if (!upstream || upstream.status === null || provider === undefined || model === undefined) {
    return 'The capture holds no answer of an upstream.';
  }
  if (upstream.ended === 'abandoned')
    return "The capture holds only a part of the upstream's answer: the client went before its end.";
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
      chunks: upstream.chunks.map((chunk) => ({ atMs: chunk.atMs - headAtMs, bytes: bytesOf(chunk) })),
      fault: fault && faultFrom(fault),
    },
  };
};

/**
 * The recorded answer through the yard's line to that provider and model, as a client of `settings.client` would get it. It calls
 * nobody, counts nothing, logs nothing, and what is known of reasoning signatures stays as it is.
 */
export const replay = (replayable: Replayable, settings: ReplaySettings, yard: Yard): Observable<ReplyPart> => {
  const { asked, recording, provider, model, clientHeaders, summary } = replayable;
  const { id, startedAtMs, flow, recorded, client, speed, stream = summary.stream } = settings;
  const named = { model: `${provider},${model}`, stream };
  const body: JsonObject = client === recorded ? { ...asked, ...named } : named;
  return serve(
    {
      id,
      seed: randomBytes(12).toString('hex'),
      startedAtMs,
      // What was asked stands in the words of the protocol that it came in, whichever the answer is written in.
      client: { ...client, decodeRequest: () => recorded.decodeRequest({ ...asked, ...named }) },
      body: Buffer.from(JSON.stringify(body)),
      clientHeader: (name) => clientHeaders[name],
      flow,
      delivery: newDelivery(),
      meter: silentMeter,
    },
    {
      ...yard,
      upstreams: playRecording(recording, speed),
      log: quietLogs.app,
      losses: createLossCounter(),
      signatures: createSignatureMemory(),
    },
  ).pipe(
    map((part) =>
      part.type === 'data' ? part : { ...part, headers: { ...part.headers, [replayHeader]: summary.id } },
    ),
  );
};

/** Tells in an answer which request it repeats. */
const replayHeader = 'x-switchyard-replay';

const bytesOf = ({ text, base64 }: Chunk): Uint8Array =>
  base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64');

/** A recording breaks off with one of these alone. */
const faultFrom = ({ kind, message }: NonNullable<NonNullable<Capture['upstream']>['fault']>): Fault => ({
  kind: kind === 'upstream-timeout' || kind === 'upstream-garbled' ? kind : 'upstream-cut',
  message,
});
