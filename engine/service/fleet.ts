import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import Type, { type Static } from 'typebox';
import type { FleetState } from '../../admin/schema.ts';
import type { Config, FleetConfig } from '../config/config.ts';
import type { HubStore } from '../hub/contract.ts';
import { Hub } from '../hub/hub.ts';
import { RedisStore, type StoreChange } from '../hub/redis-store.ts';
import { createSealer } from '../hub/seal.ts';
import type { AppLog } from '../log/logs.ts';
import { errorCode } from '../model/fault.ts';
import { type JsonObject, parseJson } from '../model/json/json.ts';
import { reader } from '../model/schema.ts';
import { version } from '../paths.ts';

/** Opens the store that several machines share. Throws a message for users. */
export const openFleetStore = (
  { urls, primary, ca, name, keys }: FleetConfig,
  report: (line: string) => void,
): RedisStore =>
  new RedisStore({
    urls,
    primary,
    ca: ca === undefined ? undefined : readCa(ca),
    name,
    sealer: createSealer(keys.map((key) => Buffer.from(key))),
    nowMs: () => performance.now(),
    onChange: (change) => report(changeText(change)),
  });

const readCa = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`FLEET.ca: ${path} can't be read (${errorCode(error) ?? 'unknown'}).`, { cause: error });
  }
};

const changeText = (change: StoreChange): string => {
  switch (change.type) {
    case 'up':
      return 'FLEET.store answers';
    case 'emptied':
      return 'warning: FLEET.store has lost everything; limits go on by shares for a second';
    case 'down':
      return `warning: FLEET.store fails, limits go on by shares: ${change.problem}`;
    default:
      return change satisfies never;
  }
};

/** What a member says of itself to the others. */
const About = Type.Object({
  machine: Type.String(),
  pid: Type.Integer(),
  version: Type.String(),
  /** Digest of its configuration. */
  config: Type.String(),
  /** Seconds since that configuration came into use. */
  configSeconds: Type.Integer(),
  address: Type.String(),
  streams: Type.Integer(),
});
type About = Static<typeof About>;
const about = reader(About);

/** A process of the fleet, as it says of itself. */
export interface FleetMember extends About {
  readonly isThis: boolean;
}

/** What a process says of itself that changes. */
interface MemberState {
  readonly source: JsonObject;
  readonly address: string;
  readonly streams: number;
}

/** This process as a member of the fleet. */
export interface Fleet {
  readonly hub: Hub;
  /** Names this machine among the others. */
  readonly machine: string;
  /** Tells the others about this process from now on. */
  readonly present: (state: () => MemberState) => void;
  readonly members: () => readonly FleetMember[];
}

/** Joins the fleet. */
export const joinFleet = (
  store: HubStore,
  { fleet, workers }: Pick<Config, 'workers'> & { readonly fleet: FleetConfig },
  log: Pick<AppLog, 'info' | 'warn'>,
): Fleet => {
  const member = randomUUID();
  const machine = hostname().slice(0, 200);
  let state: (() => MemberState) | undefined;
  const digest = digestOver(() => performance.now());
  const hub = new Hub({
    store,
    member,
    nowMs: () => performance.now(),
    expected: fleet.replicas * workers,
    alone: fleet.withoutStore,
    about() {
      if (!state) return '';
      const { source, address, streams } = state();
      const { config, configSeconds } = digest(source);
      const { pid } = process;
      return JSON.stringify({ machine, pid, version, config, configSeconds, address, streams } satisfies About);
    },
    onSilence(isSilent) {
      if (isSilent) log.warn("the fleet's store does not answer; limits go on by shares");
      else log.info("the fleet's store answers again");
    },
  });
  hub.start();
  return {
    hub,
    machine,
    present(next) {
      state = next;
    },
    members: () =>
      hub.members.flatMap((one) => {
        const known = parseJson(one.about);
        return about.matches(known) ? [{ ...known, isThis: one.member === member }] : [];
      }),
  };
};

/** The digest of a configuration's source, and since when it is the same. The source is a new object after each change. */
const digestOver = (nowMs: () => number) => {
  let last: JsonObject | undefined;
  let config = '';
  let sinceMs = nowMs();
  return (source: JsonObject): Pick<About, 'config' | 'configSeconds'> => {
    if (source !== last) {
      const next = createHash('sha256').update(JSON.stringify(source)).digest('hex').slice(0, 12);
      if (next !== config) sinceMs = nowMs();
      [last, config] = [source, next];
    }
    return { config, configSeconds: Math.floor((nowMs() - sinceMs) / 1_000) };
  };
};

/** Two configurations at once for longer than a rollout's pause, in seconds, are shown as drift. */
const driftSeconds = 60;

/** What `GET /api/fleet` answers. */
export const fleetState = (fleet: Fleet | undefined): FleetState => {
  if (!fleet) return { store: null, drift: false, members: [] };
  const { isUp, seconds } = fleet.hub.figures;
  const members = [...fleet.members()];
  return { store: { up: isUp, seconds }, drift: hasDrift(members), members };
};

/** Whether members use different configurations, and have done so for a while. */
export const hasDrift = (members: readonly Pick<FleetMember, 'config' | 'configSeconds'>[]): boolean =>
  new Set(members.map(({ config }) => config)).size > 1 &&
  members.every(({ configSeconds }) => configSeconds >= driftSeconds);
