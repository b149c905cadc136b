import { startFloor } from '../floors/start-floor.ts';
import type { Place } from '../load/job.ts';
import type { RunningTarget } from '../targets/target.ts';
import type { Pair, Wire } from '../wire.ts';
import type { Stage } from './scene.ts';

/** Somebody whom the load generator asks in turn with the others. */
export interface Participant {
  /** As `Row.participant` has it. */
  readonly name: string;
  readonly place: Place;
  /** Root of its processes; `undefined` for the upstream itself, whose cost isn't looked at. */
  readonly pid: number | undefined;
  readonly stop: () => Promise<void>;
}

/** The floor that a pair is measured against: the bytes alone where both sides speak the same, else the conversion. */
export const floorOf = ({ client, upstream }: Pair): 'bytes' | 'converted' =>
  client === upstream ? 'bytes' : 'converted';

/** How the participants of a scene are started. */
export interface StartOptions {
  /** Whether the floors take part. */
  readonly floors: boolean;
  readonly workers?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Those that take part, and the gateways that couldn't be started, each with the reason. */
export interface Started {
  readonly running: readonly Participant[];
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Starts the gateways, and beside them the floors: `direct`, and those that fit the pair. Rejects when a floor can't be started;
 * a gateway that can't be is told of.
 */
export const startParticipants = async (
  { settings, upstream }: Stage,
  pair: Pair,
  { floors, workers = 1, env = {} }: StartOptions,
): Promise<Started> => {
  const upstreamUrl = upstream.baseUrl;
  const refused = new Map<string, string>();
  const gateways = settings.targets.map(({ name, start }) =>
    start({ upstreamUrl, upstream: pair.upstream, workers, env }).then(
      (running) => [participant(name, pair.client, running)],
      (error: unknown) => {
        refused.set(name, error instanceof Error ? error.message : String(error));
        return [];
      },
    ),
  );
  const started: Promise<Participant>[] = [];
  if (floors) {
    started.push(startFloor(upstreamUrl, pair.name).then((floor) => participant('converted', pair.client, floor)));
    if (floorOf(pair) === 'bytes') {
      started.push(startFloor(upstreamUrl).then((floor) => participant('bytes', pair.client, floor)));
    }
    const place = { baseUrl: upstreamUrl, wire: pair.upstream, headers: {} };
    started.push(Promise.resolve({ name: 'direct', place, pid: undefined, stop: async () => {} }));
  }
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

const participant = (name: string, wire: Wire, { pid, baseUrl, headers = {}, stop }: RunningTarget): Participant => ({
  name,
  place: { baseUrl, wire, headers },
  pid,
  stop,
});
