import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import Type, { type Static } from 'typebox';
import type { Config, FleetConfig } from '../config/config.ts';
import { errorCode } from '../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../model/json/json.ts';
import { reader } from '../model/schema.ts';
import type { AppLog } from '../observe/log/logs.ts';
import { version } from '../paths.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import type { HubStore } from './contract.ts';
import { Hub } from './hub.ts';
import { RedisStore, type StoreChange } from './redis-store.ts';
import { createSealer, type Sealer } from './seal.ts';

/** Opens the store that several machines share. Throws a message for users. */
export const openFleetStore = (
  { urls, primary, ca, name, keys }: FleetConfig,
  report: (line: string) => void,
  wallMs: () => number = Date.now,
): RedisStore =>
  new RedisStore({
    urls,
    primary,
    ca: ca === undefined ? undefined : readCa(ca),
    name,
    sealer: createSealer(keys.map((key) => Buffer.from(key))),
    nowMs: steadyClock.nowMs,
    wallMs,
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
      return 'warning: FLEET.store has lost everything; each process enforces its share of the limits for three seconds';
    case 'down':
      return `warning: FLEET.store fails, limits go on by shares: ${change.problem}`;
    default:
      return change satisfies never;
  }
};

/** A member's description for the others. */
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
  /** Identifies the key that it encrypts with. */
  key: Type.Optional(Type.String()),
});
type About = Static<typeof About>;
const about = reader(About);

/** A process of the fleet, as it describes itself. */
export interface FleetMember extends Omit<About, 'key'> {
  readonly isThis: boolean;
  /** Its key isn't one of this process's: it belongs to another fleet of the same name. */
  readonly isStranger: boolean;
}

/** The part of a member's description that changes. */
interface MemberState {
  readonly source: JsonObject;
  readonly address: string;
  readonly streams: number;
}

/** This process as a member of the fleet. */
export interface Fleet {
  readonly hub: Hub;
  readonly sealer: Sealer;
  /** This machine's name in the fleet. */
  readonly machine: string;
  /** Publishes this process's description from now on. */
  readonly present: (state: () => MemberState) => void;
  readonly members: () => readonly FleetMember[];
}

/** Between two exchanges that requests ask for, in milliseconds. */
const spacingMs = 50;

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
  const keyNames = fleet.keys.map((key) =>
    createSealer([Buffer.from(key)])
      .nameOf('fleet')
      .slice(0, 16),
  );
  const [key = ''] = keyNames;
  const members = (): readonly FleetMember[] =>
    hub.members.flatMap((one) => {
      const known = parseJson(one.about);
      if (!about.matches(known)) return [];
      const { key: its = key, ...shown } = known;
      return [{ ...shown, isThis: one.member === member, isStranger: !keyNames.includes(its) }];
    });
  const troubles = sayChanges((line) => log.warn(line));
  const hub = new Hub({
    store,
    member,
    nowMs: steadyClock.nowMs,
    expected: fleet.replicas * workers,
    spacingMs,
    alone: fleet.withoutStore,
    about() {
      if (!state) return '';
      const { source, address, streams } = state();
      const { config, configSeconds } = digest(source);
      const { pid } = process;
      return JSON.stringify({ machine, pid, version, config, configSeconds, address, streams, key } satisfies About);
    },
    onSilence(isSilent, problem) {
      if (isSilent) log.warn(`FLEET.store fails, limits go on by shares: ${problem}`);
      else log.info('FLEET.store answers again');
    },
    onAnswer: () => troubles(troublesOf(members(), hub.figures.clockOffSeconds)),
  });
  hub.start();
  return {
    hub,
    sealer: createSealer(fleet.keys.map((key) => Buffer.from(key))),
    machine,
    present(next) {
      state = next;
    },
    members,
  };
};

/** Clock offset that is reported, in seconds: limits use the store's clock, periods of budgets the machine's. */
const clockSeconds = 30;

/** Problems among members while the store answers. */
const troublesOf = (members: readonly FleetMember[], clockOffSeconds: number): readonly string[] => {
  const strangers = members.filter(({ isStranger }) => isStranger).map(({ machine }) => machine);
  const off = Math.abs(clockOffSeconds);
  const side = clockOffSeconds > 0 ? 'ahead of' : 'behind';
  return [
    ...(strangers.length > 0
      ? [
          `another fleet uses this FLEET.name with another FLEET.key (${strangers[0]}): choose another name, or give all the same key`,
        ]
      : []),
    ...(off > clockSeconds
      ? [`this machine's clock is far ${side} the store's: budgets' periods begin by it; synchronize both (NTP)`]
      : []),
  ];
};

/** Reports each line once, and again only after it has ceased to hold. */
const sayChanges = (say: (line: string) => void) => {
  let before: readonly string[] = [];
  return (lines: readonly string[]): void => {
    for (const line of lines) if (!before.includes(line)) say(line);
    before = lines;
  };
};

/** The digest of what members must agree on: where each one listens, and at which address it is reached, is its own. */
export const configDigest = ({ PORT: _, HOST: __, FLEET, ...shared }: JsonObject): string => {
  const { address: ___, ...fleet } = isJsonObject(FLEET) ? FLEET : {};
  return createHash('sha256')
    .update(JSON.stringify([shared, fleet]))
    .digest('hex')
    .slice(0, 12);
};

/** The digest of a configuration's source, and the time of its last change. The source is a new object after each change. */
const digestOver = (nowMs: () => number) => {
  let last: JsonObject | undefined;
  let config = '';
  let sinceMs = nowMs();
  return (source: JsonObject): Pick<About, 'config' | 'configSeconds'> => {
    if (source !== last) {
      const next = configDigest(source);
      if (next !== config) sinceMs = nowMs();
      [last, config] = [source, next];
    }
    return { config, configSeconds: Math.floor((nowMs() - sinceMs) / 1_000) };
  };
};
