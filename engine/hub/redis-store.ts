import { createHash, randomUUID } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { parseJson } from '../model/json/json.ts';
import { reader } from '../model/schema.ts';
import { within } from '../runtime/within.ts';
import {
  type Blob,
  type BlobValues,
  type Entry,
  type HubStore,
  maxPerMessage,
  type Pull,
  type Push,
  type WindowGrant,
} from './contract.ts';
import { openLink, type StoreAddress, type StoreLink } from './redis-link.ts';
import { script } from './redis-script.ts';
import type { Sealer } from './seal.ts';
import { storeProblem } from './store-problem.ts';

/** Options of a store that several machines use. */
interface RedisStoreOptions extends StoreAddress {
  /** Distinguishes the fleets in one store. */
  readonly name: string;
  /** Seals entries, and hashes names that come from the configuration. */
  readonly sealer: Sealer;
  readonly nowMs: () => number;
  /** The machine's clock, in milliseconds since 1970. */
  readonly wallMs: () => number;
  /** Time without a push after which a member counts as gone, in milliseconds. */
  readonly memberMs?: number;
  /** Called when the store fails, answers again, or was emptied; `problem`: why it fails. */
  readonly onChange?: (change: StoreChange) => void;
}

/** A change of the store's state. */
export type StoreChange = { readonly type: 'up' | 'emptied' } | { readonly type: 'down'; readonly problem: string };

const defaultMemberMs = 5_000;
/** Deadline of an exchange, in milliseconds. Shorter than members wait for it. */
const exchangeMs = 250;
/** Pause before a failed store is tried again, in milliseconds; doubled up to the longest. */
const firstPauseMs = 200;
const longestPauseMs = 1_000;
/** Deadline of a read, in milliseconds: without a connection, it would never end. */
const readMs = 1_000;
/** Longest value of a blob, in characters: 64 KiB and what sealing adds. */
const maxBlob = 90_000;

const Reply = Type.Tuple([
  Type.String(),
  Type.Integer(),
  Type.String(),
  Type.Integer(),
  Type.Array(Type.Tuple([Type.String(), Type.Number(), Type.String()])),
  Type.Array(Type.Tuple([Type.String(), Type.String()])),
  Type.Array(Type.String()),
  Type.Array(Type.Tuple([Type.Integer(), Type.Integer(), Type.Array(Type.Integer())])),
  Type.Array(Type.Tuple([Type.Integer(), Type.Integer()])),
]);
type Reply = Static<typeof Reply>;
const replyReader = reader(Reply);
const blobReader = reader(Type.Union([Type.String(), Type.Null()]));
const sealedEntry = reader(Type.Tuple([Type.String(), Type.String()]));

const sha = createHash('sha1').update(script).digest('hex');

/**
 * A store in Valkey or Redis, for the members of several machines. Each call has a deadline; a failed store is tried again at
 * intervals, by one call at a time.
 */
export class RedisStore implements HubStore {
  readonly #options: RedisStoreOptions;
  #link: Promise<StoreLink>;
  #epoch = '';
  #failures = 0;
  #retryMs = 0;
  #problem = '';
  /** The cause of the failure has been reported, not just the silence. */
  #isExplained = false;

  constructor(options: RedisStoreOptions) {
    this.#options = options;
    this.#link = openLink(options);
    this.#link.catch(() => undefined);
  }

  async exchange(push: Push): Promise<Pull> {
    const reply = await this.#attempt(exchangeMs, (link) => this.#exchange(link, push));
    const [epoch] = reply;
    if (this.#epoch !== '' && this.#epoch !== epoch) this.#options.onChange?.({ type: 'emptied' });
    this.#epoch = epoch;
    return this.#pull(push, reply, this.#options.wallMs());
  }

  putBlob({ name, value, forMs }: Blob): void {
    if (value.length > maxBlob || forMs <= 0) return;
    const key = this.#blobKey(name);
    const command = ['SET', key, value, 'PX', String(Math.ceil(forMs))];
    // A full store refuses it, which counts as expired.
    if (this.#isOpen) this.#link.then(({ send }) => send(key, command)).catch(() => undefined);
  }

  async readBlobs(names: readonly string[]): Promise<BlobValues> {
    const keys = names.map((name) => this.#blobKey(name));
    if (!this.#isOpen) throw new Error(this.#problem);
    // A slow read isn't the store's failure: a request waits for a moment only, and what comes later is kept.
    const reading = this.#link.then(({ isSpread, send }) =>
      isSpread ? Promise.all(keys.map((key) => send(key, ['GET', key]))) : send(keys[0] ?? '', ['MGET', ...keys]),
    );
    const read = await within(readMs, reading);
    if (read === undefined) throw new Error(`it does not answer within ${readMs} ms`);
    return (Array.isArray(read) ? read : []).map((value: unknown) => (blobReader.matches(value) ? value : null));
  }

  async close(): Promise<void> {
    this.#retryMs = Number.POSITIVE_INFINITY;
    await this.#link.then(({ close }) => close()).catch(() => undefined);
  }

  get #isOpen(): boolean {
    return this.#options.nowMs() >= this.#retryMs;
  }

  async #attempt<T>(withinMs: number, call: (link: StoreLink) => Promise<T>): Promise<T> {
    const { nowMs, onChange } = this.#options;
    if (!this.#isOpen) throw new Error(this.#problem);
    // One call at a time tries a store that has failed.
    if (this.#failures > 0) this.#retryMs = nowMs() + longestPauseMs;
    let problem: string | undefined;
    const link = this.#link;
    const answer = await within(
      withinMs,
      link.then(call).catch((error: unknown) => {
        problem = storeProblem(error);
        throw error;
      }),
    );
    if (answer !== undefined) {
      const isBack = this.#failures > 0 || this.#epoch === '';
      this.#failures = 0;
      this.#retryMs = 0;
      if (isBack) onChange?.({ type: 'up' });
      return answer;
    }
    // Another call has closed this connection, and has reported why.
    if (link !== this.#link) throw new Error(this.#problem);
    this.#failures += 1;
    this.#retryMs = nowMs() + Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#failures - 1));
    this.#problem =
      problem ??
      `it does not answer within ${withinMs} ms: look at its load, the network, and whether its port has TLS`;
    if (this.#failures === 1) this.#isExplained = false;
    // A connection that isn't made in time explains nothing either: the store's own error is the cause.
    const explains = problem !== undefined && !problem.startsWith('it does not answer') && !this.#isExplained;
    if (this.#failures === 1 || explains) onChange?.({ type: 'down', problem: this.#problem });
    this.#isExplained ||= explains;
    // The other end may be gone, or its answer may never end.
    if (problem === undefined) this.#renewLink();
    throw new Error(this.#problem);
  }

  #renewLink(): void {
    this.#link.then(({ close }) => close()).catch(() => undefined);
    this.#link = openLink(this.#options);
    this.#link.catch(() => undefined);
  }

  async #exchange(link: StoreLink, push: Push): Promise<Reply> {
    const base = this.#base(push);
    const windows = push.windows.map((ask) => ({
      key: this.#key(`l:${this.#nameOf(`${ask.windowMs} ${ask.id}`)}`),
      ask: [ask.max, ask.windowMs, ask.want, ask.back, ask.unleased, ask.seed ?? []],
    }));
    const holds = push.holds.map(({ id, max, want }) => ({
      key: this.#key(`h:${this.#nameOf(id)}`),
      ask: [max, want],
    }));
    if (!link.isSpread) return this.#run(link, base, windows, holds);
    // A call touches one node: limits follow, with the state from the first answer.
    const reply = await this.#run(link, base, [], []);
    const [state = '', present = '1'] = reply[2].split(' ');
    const isLost = push.epoch !== '' && push.epoch !== reply[0];
    const about = { fresh: state === 'fresh', lost: isLost, present: Number(present) };
    const query = { member: push.member, ...about, ...this.#times(push) };
    const limits = { keys: [], query };
    const granted = await Promise.all(windows.map((window) => this.#run(link, limits, [window], [])));
    const held = await Promise.all(holds.map((hold) => this.#run(link, limits, [], [hold])));
    const [epoch, version, now, applied, facts, members, totals] = reply;
    const allGranted = granted.flatMap((one) => one[7]);
    return [epoch, version, now, applied, facts, members, totals, allGranted, held.flatMap((one) => one[8])];
  }

  #times({ leaves }: Push) {
    return { memberMs: this.#options.memberMs ?? defaultMemberMs, leaves: leaves ?? false };
  }

  #base(push: Push) {
    const { sealer, name } = this.#options;
    const facts = push.facts.map(({ id, value, forMs }) => {
      const sealed = sealer.seal(id, JSON.stringify([id, value]));
      return [sealed.name, Math.round(forMs), sealed.value];
    });
    const { batch, totals, member, about, epoch, version } = push;
    const keys = ['v', 'facts', 'who', `s:${member}`];
    /** A counter's key, by its number, and its field. */
    const counter = (id: string): [number, string] => {
      const [period = ''] = id.split(' ', 1);
      const key = `sums:${period}`;
      if (!keys.includes(key)) keys.push(key);
      return [keys.indexOf(key) + 1, this.#nameOf(id)];
    };
    const sums = batch?.sums.map(([id, by]) => [...counter(id), String(by)]);
    const query = {
      base: true,
      member,
      about,
      known: epoch,
      epoch: randomUUID(),
      version,
      facts,
      ...(batch && { batch: [batch.number, sums] }),
      totals: totals.map(counter),
      ...this.#times(push),
    };
    return { keys: keys.map((key) => `sy:{${name}}:${key}`), query };
  }

  async #run(
    { send }: StoreLink,
    { keys, query }: { readonly keys: readonly string[]; readonly query: object },
    windows: readonly LimitRequest[],
    holds: readonly LimitRequest[],
  ): Promise<Reply> {
    const all = [...keys, ...[...windows, ...holds].map(({ key }) => key)];
    const numbered = (asks: readonly LimitRequest[], from: number) =>
      asks.map(({ ask }, index) => [from + index + 1, ...ask]);
    const asked = {
      ...query,
      windows: numbered(windows, keys.length),
      holds: numbered(holds, keys.length + windows.length),
    };
    const tail = [String(all.length), ...all, JSON.stringify(asked)];
    const [first = ''] = all;
    const reply = await send(first, ['EVALSHA', sha, ...tail]).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return send(first, ['EVAL', script, ...tail]);
      throw error;
    });
    return replyReader.matches(reply) ? reply : Promise.reject(new Error('The answer of the store is not understood.'));
  }

  #pull(push: Push, reply: Reply, wallMs: number): Pull {
    const [epoch, version, state, applied, facts, members, totals, windows, holds] = reply;
    const [phase = '', , storeMs] = state.split(' ');
    return {
      epoch,
      version,
      facts: facts.flatMap((sealed) => this.#entry(sealed)).slice(0, maxPerMessage),
      applied,
      totals: push.totals.map((id, index) => [id, Number(totals[index] ?? 0)]),
      windows: push.windows.flatMap(({ id }, index): readonly WindowGrant[] => {
        const [granted, slot, ages] = windows[index] ?? [];
        if (granted === undefined || slot === undefined || !ages) return [];
        return [{ id, granted, slot, used: pairs(ages) }];
      }),
      holds: push.holds.map(({ id }, index) => {
        const [held = 0, unused = 0] = holds[index] ?? [];
        return { id, held, unused };
      }),
      members: members
        .map(([member, about]) => ({ member, about }))
        .toSorted((one, other) => (one.member < other.member ? -1 : 1)),
      isFresh: phase === 'fresh',
      ...(storeMs !== undefined && { clockOffMs: Math.round(wallMs - Number(storeMs)) }),
    };
  }

  #entry([name, forMs, value]: readonly [string, number, string]): readonly Entry[] {
    const opened = parseJson(this.#options.sealer.open(name, value) ?? '');
    // Sealed by a key that this member doesn't have, or of another form.
    if (!sealedEntry.matches(opened)) return [];
    const [id, what] = opened;
    return [{ id, value: what, forMs: Math.max(0, forMs) }];
  }

  #nameOf(id: string): string {
    return this.#options.sealer.nameOf(id);
  }

  /** Each limit has its own hash tag, so that limits spread over a cluster. */
  #key(rest: string): string {
    return `sy:{${this.#options.name}:${rest}}`;
  }

  #blobKey(name: string): string {
    return `sy:{${this.#options.name}:s:${name.slice(0, 2)}}:${name}`;
  }
}

/** A limit's key, and the request for it. */
interface LimitRequest {
  readonly key: string;
  readonly ask: readonly unknown[];
}

const pairs = (flat: readonly number[]): [number, number][] =>
  flat.flatMap((age, index): [number, number][] => (index % 2 === 0 ? [[age, flat[index + 1] ?? 0]] : []));
