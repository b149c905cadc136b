import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Family, FamilySums } from '../../features/metrics/families.ts';
import type { BlobJournal } from '../../hub/blob-journal.ts';
import type { Blob, HubStore } from '../../hub/contract.ts';
import { MemoryStore } from '../../hub/memory-store.ts';
import { steadyClock } from '../../runtime/steady-clock.ts';
import { within } from '../../runtime/within.ts';
import type { Keeper, KeptMember, Records } from '../keeper.ts';
import type { PeerCall, PeerQuestion, PeerResult, StoreScope } from './ipc-messages.ts';
import { keep, keeperOver } from './keep-messages.ts';

/** Answers another process's question; `undefined`: no answer. */
export type Answerer = (question: PeerQuestion) => Promise<string | undefined>;

/** A process's access to the other processes of its service. All of it goes through the supervisor. */
export interface Peers {
  /** Whether other processes exist or have existed. */
  readonly isShared: () => boolean;
  /** Asks all other processes. Resolves with the answers that came in time; empty if the supervisor doesn't answer. */
  readonly ask: (question: PeerQuestion) => Promise<readonly string[]>;
  /** Makes all other processes apply the configuration's file. Resolves with the number that don't use it in time. */
  readonly apply: () => Promise<number>;
  /** Sends the counters that changed, and all gauges. */
  readonly tell: (changed: readonly Family[]) => void;
  /** The metrics of all processes; `undefined` if the supervisor doesn't answer in time. */
  readonly metrics: () => Promise<readonly Family[] | undefined>;
  /** Answers the others' questions from now on. */
  readonly answer: (answerer: Answerer) => void;
  /** State shared by all processes of this machine. */
  readonly store: HubStore;
  /** State shared by several machines; never answers if the service started without it. */
  readonly fleet: HubStore;
  /** Keeps what requests leave in the supervisor, which writes it; absent: the process writes by itself. */
  readonly keeper: Keeper | undefined;
}

/** A process as its supervisor sees it. */
interface Peer {
  readonly ask: Answerer;
}

/** A process that has joined. */
export interface JoinedPeer {
  readonly call: (call: PeerCall) => Promise<PeerResult>;
  readonly tell: (changed: readonly Family[]) => void;
  readonly putBlob: (blob: Blob, of: StoreScope) => void;
  /** The process has ended. Its last values stay in the counters. */
  readonly leave: () => void;
}

/** Timeout for answers of the other processes, in milliseconds. */
const answerMs = 1_000;
/** The same for applying a configuration, which may load modules. */
export const applyMs = 5_000;

/** The supervisor's side: forwards questions, and holds the state shared by all processes. */
export class PeerExchange {
  readonly #peers = new Map<number, Peer>();
  readonly #metrics = new FamilySums();
  readonly #store: MemoryStore;
  readonly #fleet: HubStore | undefined;
  /** The members' names in the store. */
  readonly #names = new Map<number, string>();
  readonly #records: (() => Promise<Records>) | undefined;
  readonly #kept = new Map<number, Promise<KeptMember>>();
  readonly #answerMs: number;
  #joined = 0;

  /** `journal`: keeps encrypted blobs across restarts. `fleet`: state shared by several machines. `records`: keeps what requests leave. */
  constructor(
    options: {
      readonly answerMs?: number;
      readonly journal?: BlobJournal | undefined;
      readonly fleet?: HubStore | undefined;
      readonly records?: () => Promise<Records>;
    } = {},
  ) {
    this.#records = options.records;
    this.#fleet = options.fleet;
    this.#answerMs = options.answerMs ?? answerMs;
    this.#store = new MemoryStore({
      nowMs: steadyClock.nowMs,
      epoch: randomUUID(),
      journal: options.journal,
    });
  }

  /** Whether it keeps what requests leave. */
  get keeps(): boolean {
    return this.#records !== undefined;
  }

  /** Number of processes that have joined so far, including those that have ended. */
  get joined(): number {
    return this.#joined;
  }

  join(peer: Peer): JoinedPeer {
    this.#joined += 1;
    const member = this.#joined;
    this.#peers.set(member, peer);
    return {
      call: (call) => this.#call(member, call),
      tell: (changed) => {
        if (this.#peers.has(member)) this.#metrics.take(member, changed);
      },
      putBlob: (blob, of) => this.#storeOf(of)?.putBlob(blob),
      leave: () => {
        if (this.#peers.delete(member)) this.#metrics.leave(member);
        this.#store.leave(this.#names.get(member) ?? '');
        this.#names.delete(member);
        void this.#kept.get(member)?.then(
          (kept) => kept.leave(),
          () => undefined,
        );
        this.#kept.delete(member);
      },
    };
  }

  #keeperOf(member: number): Promise<KeptMember> {
    const known = this.#kept.get(member);
    if (known) return known;
    if (!this.#records || !this.#peers.has(member)) return Promise.reject(new Error('Nothing is kept.'));
    const kept = this.#records().then((records) => records.join());
    this.#kept.set(member, kept);
    return kept;
  }

  #storeOf(scope: StoreScope): HubStore | undefined {
    return scope === 'machine' ? this.#store : this.#fleet;
  }

  async #call(member: number, call: PeerCall): Promise<PeerResult> {
    switch (call.kind) {
      case 'ask':
        return { kind: 'ask', ...(await this.#askOthers(member, call.question)) };
      case 'keep':
        return keep(await this.#keeperOf(member), call.kept);
      case 'metrics':
        await this.#askOthers(member, { kind: 'metrics' });
        return { kind: 'metrics', families: [...this.#metrics.all()] };
      case 'exchange':
        if (this.#peers.has(member) && call.of === 'machine') this.#names.set(member, call.push.member);
        return { kind: 'exchange', pull: (await this.#storeOf(call.of)?.exchange(call.push)) ?? noStore() };
      case 'blobs':
        // Earlier messages of other processes may still wait in their channels; they are handled first.
        await setImmediate();
        return { kind: 'blobs', values: (await this.#storeOf(call.of)?.readBlobs(call.names)) ?? noStore() };
      default:
        return call satisfies never;
    }
  }

  async #askOthers(member: number, question: PeerQuestion): Promise<{ answers: string[]; missing: number }> {
    const others = [...this.#peers].filter(([other]) => other !== member);
    const ms = question.kind === 'apply' ? applyMs : this.#answerMs;
    const results = await Promise.all(others.map(([, { ask }]) => within(ms, ask(question))));
    const answers = results.filter((answer) => answer !== undefined);
    // One that has ended meanwhile isn't missed.
    const missing = others.filter(([other], index) => results[index] === undefined && this.#peers.has(other));
    return { answers, missing: missing.length };
  }
}

/** A process that is its own supervisor and forks the others. */
export const ownPeer = (exchange: PeerExchange): Peers & Pick<JoinedPeer, 'leave'> => {
  let answerer: Answerer = async () => undefined;
  const joined = exchange.join({ ask: (question) => answerer(question) });
  return {
    ...joined,
    isShared: () => exchange.joined > 1,
    ask: async (question) => answersOf(await joined.call({ kind: 'ask', question })),
    apply: async () => missingOf(await joined.call({ kind: 'ask', question: { kind: 'apply' } })),
    store: storeOver(joined, 'machine'),
    fleet: storeOver(joined, 'fleet'),
    metrics: async () => familiesOf(await joined.call({ kind: 'metrics' })),
    keeper: exchange.keeps ? keeperOver((kept) => joined.call({ kind: 'keep', kept })) : undefined,
    answer(next) {
      answerer = next;
    },
  };
};

/** A store that is reached through calls to the supervisor. */
export const storeOver = (
  {
    call,
    putBlob,
  }: Pick<JoinedPeer, 'putBlob'> & { readonly call: (call: PeerCall) => Promise<PeerResult | undefined> },
  of: StoreScope,
): HubStore => ({
  async exchange(push) {
    const result = await call({ kind: 'exchange', of, push });
    return result?.kind === 'exchange' ? result.pull : noAnswer(result);
  },
  putBlob: (blob) => putBlob(blob, of),
  async readBlobs(names) {
    const result = await call({ kind: 'blobs', of, names: [...names] });
    return result?.kind === 'blobs' ? result.values : noAnswer(result);
  },
});

const noStore = (): never => {
  throw new Error('The service began without FLEET; a restart of the whole service takes it up.');
};

const noAnswer = (result: PeerResult | undefined): never => {
  throw new Error((result?.kind === 'failed' && result.problem) || 'The supervisor does not answer.');
};

export const answersOf = (result: PeerResult | undefined): readonly string[] =>
  result?.kind === 'ask' ? result.answers : [];

/** The number of processes without an answer; at least one if the supervisor gives no result. */
export const missingOf = (result: PeerResult | undefined): number => (result?.kind === 'ask' ? result.missing : 1);

export const familiesOf = (result: PeerResult | undefined): readonly Family[] | undefined =>
  result?.kind === 'metrics' ? result.families : undefined;
