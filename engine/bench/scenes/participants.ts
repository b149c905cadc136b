import { conversions } from '../floors/convert/index.ts';
import { startFloor } from '../floors/start-floor.ts';
import type { Place } from '../load/job.ts';
import { allocationProbe } from '../measure/allocations.ts';
import type { RunningTarget } from '../targets/target.ts';
import type { Pair, Wire } from '../wire.ts';
import type { Stage } from './scene.ts';

/** A server that the load generator asks in turn with the others. */
export interface Participant {
  /** As `Row.participant` has it. */
  readonly name: string;
  readonly place: Place;
  /** Root of its processes; `undefined` for the upstream itself, whose cost isn't looked at. */
  readonly pid: number | undefined;
  readonly stop: () => Promise<void>;
}

/**
 * What a gateway is compared with: the upstream itself, the bytes handed on, the conversion written by hand, and the pair's floor made
 * as slow as the gateway's own JavaScript.
 */
export type Floor = 'direct' | 'bytes' | 'converted' | 'spinning';

/** The names of all participants that aren't gateways. */
export const floors: ReadonlySet<string> = new Set(['direct', 'bytes', 'converted', 'spinning', 'bare']);

/**
 * The floor that a pair is measured against: the conversion where one is written by hand, else the bytes alone, in the provider's format.
 */
export const floorOf = ({ name, client, upstream }: Pair): 'bytes' | 'converted' =>
  client === upstream || !conversions.has(name) ? 'bytes' : 'converted';

/** How the participants of a scene are started. */
interface StartOptions {
  /** Those that take part. */
  readonly floors: readonly Floor[];
  readonly workers?: number;
  /** Clients ask over WebSocket; the upstream itself is always asked over HTTP. */
  readonly webSocket?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** For how long `spinning` computes in each request, in microseconds. */
  readonly spinUs?: number;
}

/** Those that take part, and the gateways that couldn't be started, each with the reason. */
interface Started {
  readonly running: readonly Participant[];
  readonly refused: ReadonlyMap<string, string>;
}

/** Starts the gateways, and beside them the floors. Rejects when a floor can't be started; a gateway is then `refused`. */
export const startParticipants = async (
  { settings, upstream }: Stage,
  pair: Pair,
  { floors, workers = 1, webSocket = false, env = {}, spinUs = 0 }: StartOptions,
): Promise<Started> => {
  const upstreamUrl = upstream.baseUrl;
  const probed = { ...allocationProbe(), ...env };
  const refused = new Map<string, string>();
  const gateways = settings.targets.map(({ name, start }) =>
    start({ upstreamUrl, upstream: pair.upstream, workers, env: probed }).then(
      (running) => [participant(name, pair.client, webSocket, running)],
      (error: unknown) => {
        refused.set(name, error instanceof Error ? error.message : String(error));
        return [];
      },
    ),
  );
  const started = floors.map(async (name): Promise<Participant> => {
    if (name === 'direct') {
      const place = { baseUrl: upstreamUrl, wire: pair.upstream, headers: {} };
      return { name, place, pid: undefined, stop: async () => {} };
    }
    const isBytes = name === 'bytes' || (name === 'spinning' && floorOf(pair) === 'bytes');
    const spin = name === 'spinning' ? spinUs : 0;
    const floor = await startFloor(upstreamUrl, isBytes ? '' : pair.name, spin, probed);
    const isAsIs = isBytes && pair.client !== pair.upstream;
    return participant(name, isAsIs ? pair.upstream : pair.client, webSocket && !isAsIs, floor);
  });
  const [gatewaysRunning, settled] = await Promise.all([Promise.all(gateways), Promise.allSettled(started)]);
  const floorsRunning = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const running = [...gatewaysRunning.flat(), ...floorsRunning];
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed) {
    await stopAll(running);
    throw failed.reason;
  }
  return { running, refused };
};

/** Ends them. */
export const stopAll = async (participants: readonly Participant[]): Promise<void> => {
  await Promise.all(participants.map(({ stop }) => stop()));
};

const participant = (
  name: string,
  wire: Wire,
  webSocket: boolean,
  { pid, baseUrl, headers = {}, stop }: RunningTarget,
): Participant => ({
  name,
  place: { baseUrl, wire, headers, webSocket },
  pid,
  stop,
});
