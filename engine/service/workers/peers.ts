import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { BlobJournal } from '../../hub/blob-journal.ts';
import type { Blob, HubStore } from '../../hub/contract.ts';
import { withLocalBlobs } from '../../hub/local-blobs.ts';
import { MemoryStore } from '../../hub/memory-store.ts';
import { type Family, FamilySums } from '../../observe/families.ts';
import { steadyClock } from '../../runtime/steady-clock.ts';
import { within } from '../../runtime/within.ts';
import type { MemberPersistence, Persistence, ServicePersistence } from '../persistence.ts';
import type { PeerCall, PeerQuestion, PeerResult } from './ipc-messages.ts';
import { persist, persistenceOver } from './persist-messages.ts';

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
  readonly publish: (changed: readonly Family[]) => void;
  /** The metrics of all processes; `undefined` if the supervisor doesn't answer in time. */
  readonly metrics: () => Promise<readonly Family[] | undefined>;
  /** Answers the others' questions from now on. */
  readonly answer: (answerer: Answerer) => void;
  /** State shared by all processes of this machine, or of several machines. */
  readonly store: HubStore;
  /** Keeps what requests leave in the supervisor, which writes it; absent: the process writes by itself. */
  readonly persistence: Persistence | undefined;
  /** Names this machine among those that use the store; `undefined`: it is this machine's own. */
  readonly nodeId: string | undefined;
  /**
   * Waits until no other process of this machine changes the configuration. Resolves with the end of this one's turn; with `undefined`
   * if it has to wait for too long, or the supervisor doesn't answer.
   */
  readonly turn: () => Promise<(() => void) | undefined>;
}

/** A process as its supervisor sees it. */
interface Peer {
  readonly ask: Answerer;
}

/** A process that has joined. */
export interface JoinedPeer {
  /** `late` gets a second result, if there is one. */
  readonly call: (call: PeerCall, late?: (result: PeerResult) => void) => Promise<PeerResult>;
  readonly publish: (changed: readonly Family[]) => void;
  readonly putBlob: (blob: Blob) => void;
  readonly endTurn: (turn: number) => void;
  /** The process has ended. Its last values stay in the counters. */
  readonly leave: () => void;
}

/** Timeout for answers of the other processes, in milliseconds. */
const answerMs = 1_000;
/** The same for applying a configuration, which may load modules. */
export const applyMs = 5_000;
/** Maximum wait for a turn, in milliseconds. */
export const turnMs = 10_000;

/** A process's turn to change the configuration. */
interface Turn {
  readonly member: number;
  readonly turn: number;
  readonly begin: () => void;
}

/** The supervisor's side: forwards questions, and holds the state shared by all processes. */
export class PeerExchange {
  readonly #peers = new Map<number, Peer>();
  readonly #metrics = new FamilySums();
  readonly #memory: MemoryStore;
  readonly #store: HubStore;
  readonly nodeId: string | undefined;
  /** Processes that wait for their turn; the first has it. */
  #turns: readonly Turn[] = [];
  /** The members' names in the store. */
  readonly #names = new Map<number, string>();
  readonly #persistence: (() => Promise<ServicePersistence>) | undefined;
  readonly #kept = new Map<number, Promise<MemberPersistence>>();
  readonly #answerMs: number;
  #joined = 0;

  /** `journal`: keeps encrypted blobs across restarts; `lasting`, some facts. `fleet`: state shared by several machines. `records`: keeps what requests leave. */
  constructor(
    options: {
      readonly answerMs?: number;
      readonly journal?: BlobJournal | undefined;
      readonly lasting?: { readonly prefix: string; readonly journal: BlobJournal } | undefined;
      readonly fleet?: HubStore | undefined;
      readonly persistence?: () => Promise<ServicePersistence>;
    } = {},
  ) {
    this.#persistence = options.persistence;
    this.#answerMs = options.answerMs ?? answerMs;
    this.#memory = new MemoryStore({
      nowMs: steadyClock.nowMs,
      epoch: randomUUID(),
      journal: options.journal,
      lasting: options.lasting,
    });
    this.nodeId = options.fleet && randomUUID();
    this.#store = options.fleet ? withLocalBlobs(options.fleet, this.#memory) : this.#memory;
  }

  /** Whether it keeps what requests leave. */
  get keeps(): boolean {
    return this.#persistence !== undefined;
  }

  /** Number of processes that have joined so far, including those that have ended. */
  get joined(): number {
    return this.#joined;
  }

  /** Why the configuration's file can't be used, as the first process that answers judges it. Empty: it can, or none answers in time. */
  async judge(): Promise<string> {
    for (const { ask } of this.#peers.values()) {
      const answer = await within(applyMs, ask({ kind: 'judge' }));
      if (answer !== undefined) return answer;
    }
    return '';
  }

  join(peer: Peer): JoinedPeer {
    this.#joined += 1;
    const member = this.#joined;
    this.#peers.set(member, peer);
    return {
      call: (call, late) => this.#call(member, call, late),
      publish: (changed) => {
        if (this.#peers.has(member)) this.#metrics.take(member, changed);
      },
      putBlob: (blob) => this.#store.putBlob(blob),
      endTurn: (turn) => this.#endTurns((one) => one.member === member && one.turn === turn),
      leave: () => {
        if (this.#peers.delete(member)) this.#metrics.leave(member);
        this.#memory.leave(this.#names.get(member) ?? '');
        this.#names.delete(member);
        void this.#kept.get(member)?.then(
          (kept) => kept.leave(),
          () => undefined,
        );
        this.#kept.delete(member);
        this.#endTurns((one) => one.member === member);
      },
    };
  }

  #persistenceOf(member: number): Promise<MemberPersistence> {
    const known = this.#kept.get(member);
    if (known) return known;
    if (!this.#persistence || !this.#peers.has(member)) return Promise.reject(new Error('Nothing is kept.'));
    const kept = this.#persistence().then((records) => records.join());
    this.#kept.set(member, kept);
    return kept;
  }

  #awaitTurn(member: number, turn: number): Promise<void> {
    return new Promise((begin) => {
      this.#turns = [...this.#turns, { member, turn, begin }];
      if (this.#turns.length === 1) begin();
    });
  }

  #endTurns(isOver: (turn: Turn) => boolean): void {
    const [before] = this.#turns;
    this.#turns = this.#turns.filter((turn) => !isOver(turn));
    const [next] = this.#turns;
    if (next !== before) next?.begin();
  }

  async #call(
    member: number,
    call: PeerCall,
    late: (result: PeerResult) => void = () => undefined,
  ): Promise<PeerResult> {
    switch (call.kind) {
      case 'ask':
        return { kind: 'ask', ...(await this.#askOthers(member, call.question)) };
      case 'keep':
        return persist(await this.#persistenceOf(member), call.kept);
      case 'metrics':
        await this.#askOthers(member, { kind: 'feature', asked: { kind: 'metrics' } });
        return { kind: 'metrics', families: [...this.#metrics.all()] };
      case 'exchange':
        if (this.#peers.has(member)) this.#names.set(member, call.push.member);
        return { kind: 'exchange', pull: await this.#store.exchange(call.push) };
      case 'blobs':
        // Earlier messages of other processes may still wait in their channels; they are handled first.
        await setImmediate();
        return {
          kind: 'blobs',
          values: await this.#store.readBlobs(call.names, (values) => late({ kind: 'blobs', values })),
        };
      case 'turn':
        if (this.#peers.has(member)) await this.#awaitTurn(member, call.turn);
        return { kind: 'turn' };
      default:
        return call satisfies never;
    }
  }

  async #askOthers(member: number, question: PeerQuestion): Promise<{ answers: string[]; missing: number }> {
    const others = [...this.#peers].filter(([other]) => other !== member);
    const ms = question.kind === 'apply' || question.kind === 'judge' ? applyMs : this.#answerMs;
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
    store: storeOver(joined),
    nodeId: exchange.nodeId,
    turn: turnsOver(joined.endTurn, (call) => within(turnMs, joined.call(call))),
    metrics: async () => familiesOf(await joined.call({ kind: 'metrics' })),
    persistence: exchange.keeps ? persistenceOver((kept) => joined.call({ kind: 'keep', kept })) : undefined,
    answer(next) {
      answerer = next;
    },
  };
};

/** A call to the supervisor; `undefined`: there is no result in time. */
type Call = (call: PeerCall, late?: (result: PeerResult) => void) => Promise<PeerResult | undefined>;

/** A store that is reached through calls to the supervisor. */
export const storeOver = ({ call, putBlob }: Pick<JoinedPeer, 'putBlob'> & { readonly call: Call }): HubStore => ({
  async exchange(push) {
    const result = await call({ kind: 'exchange', push });
    return result?.kind === 'exchange' ? result.pull : noAnswer(result);
  },
  putBlob,
  async readBlobs(names, late) {
    const result = await call({ kind: 'blobs', names: [...names] }, (second) => {
      if (second.kind === 'blobs') late?.(second.values);
    });
    return result?.kind === 'blobs' ? result.values : noAnswer(result);
  },
});

/** A process's turns, which it waits for by calls to the supervisor. */
export const turnsOver = (endTurn: JoinedPeer['endTurn'], call: Call): Peers['turn'] => {
  let turns = 0;
  return async () => {
    turns += 1;
    const turn = turns;
    const result = await call({ kind: 'turn', turn });
    if (result?.kind === 'turn') return () => endTurn(turn);
    endTurn(turn);
    return undefined;
  };
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
