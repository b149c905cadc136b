import { lastValueFrom, toArray } from 'rxjs';
import { type CaptureFile, readCaptureFile } from '../../engine/features/history/capture-file.ts';
import { readReplayable, replay } from '../../engine/features/history/replay.ts';
import { dataOf } from '../../engine/http/endpoint.ts';
import { bodyText } from '../../engine/model/call-body.ts';
import type { ClientProtocol } from '../../engine/model/protocol.ts';
import type { ClientWire } from '../../engine/model/wire/client-wires.ts';
import type { Plan } from '../../engine/routing/plan/plan.ts';
import { Backpressure } from '../../engine/runtime/backpressure.ts';
import { configFor } from '../../engine/trial/config-for.ts';
import { dryGateway } from '../../engine/trial/dry-gateway.ts';
import type { UpstreamCall } from '../../engine/upstream/upstreams.ts';
import { clientProtocols } from '../../protocols/index.ts';

/** What comes of a capture by today's gateway, whose only provider is the recorded one. */
interface Replayed {
  readonly captured: CaptureFile;
  readonly plan: Plan;
  readonly client: ClientProtocol;
  /** The first call to the provider. */
  readonly sent: { readonly body: string; readonly headers: UpstreamCall['headers'] };
  readonly answer: Uint8Array;
  readonly reply: { readonly status: number; readonly text: string };
}

/** Plays a capture's file for a client; by default, that of the capture. Throws if it can't be played. */
export const replayFile = async (text: string, wire?: ClientWire): Promise<Replayed> => {
  const captured = readCaptureFile(text);
  if (typeof captured === 'string') throw new Error(captured);
  const replayable = readReplayable(captured);
  if (typeof replayable === 'string') throw new Error(replayable);
  const { provider, model, recording, summary } = replayable;
  const protocolOf = (name: string): ClientProtocol => {
    const found = clientProtocols.find(({ protocol }) => protocol.wire === name);
    if (!found) throw new Error(`no client speaks ${name}`);
    return found.protocol;
  };
  // The recorded address shows the format.
  const baseUrl = new URL(captured.capture.upstream?.url ?? '');
  const config = configFor({ provider, baseUrl, model: { name: model } });
  const gateway = dryGateway(config, { custom: new Map() });
  const client = protocolOf(wire ?? summary.protocol);
  const [found] = config.providers;
  if (!found) throw new Error('no provider');
  const calls: UpstreamCall[] = [];
  const settings = {
    id: 'replay',
    startedAtMs: 1_800_000_000_000,
    backpressure: new Backpressure(),
    recorded: protocolOf(summary.protocol),
    client,
    speed: 0,
    stream: undefined,
    called: (call: UpstreamCall) => void calls.push(call),
  };
  const parts = await lastValueFrom(replay(replayable, settings, gateway).pipe(toArray()));
  const data = parts.flatMap((part) => (part.type === 'data' ? dataOf(part) : part.type === 'whole' ? part.body : []));
  const [first] = calls;
  return {
    captured,
    plan: gateway.planFor({ client, provider: found, model }),
    client,
    sent: { body: first ? bodyText(first.body) : '', headers: first?.headers ?? {} },
    answer: Buffer.concat(recording.chunks.map(({ bytes }) => bytes)),
    reply: {
      status: parts.flatMap((part) => (part.type === 'data' ? [] : [part.status])).at(-1) ?? 0,
      text: Buffer.concat(data.map((piece) => Buffer.from(piece))).toString(),
    },
  };
};
