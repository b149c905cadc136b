import { maxAnswer } from '../../feature.ts';
import { exchangeMs } from '../../hub/hub.ts';
import { BoundedMap } from '../../runtime/memoize.ts';
import { within } from '../../runtime/within.ts';
import type { Persistence } from '../persistence.ts';
import type { FromWorker, PeerCall, PeerQuestion, PeerResult, ToWorker } from './ipc-messages.ts';
import {
  type Answerer,
  answersOf,
  applyMs,
  familiesOf,
  type JoinedPeer,
  missingOf,
  type PeerExchange,
  type Peers,
  storeOver,
  turnMs,
  turnsOver,
} from './peers.ts';
import { asText, persistenceOver } from './persist-messages.ts';

/** Timeout for the supervisor's result, in milliseconds; longer than that for the other processes. */
const resultMs = 2_000;
/** Time limit of a second result, in milliseconds. */
const lateMs = 1_000;
/** Maximum number of calls that wait for the supervisor; further ones get no result. */
const maxCalls = 10_000;

type Received = Extract<ToWorker, { type: 'result' | 'question' }>;

/** A worker's access to the other processes, over its channel to the supervisor. */
export class IpcPeers implements Peers {
  readonly store: Peers['store'];
  readonly persistence: Persistence;
  readonly turn: Peers['turn'];
  /** Set by the supervisor's first message. */
  nodeId: string | undefined;
  readonly #send: (message: FromWorker) => void;
  readonly #waiting = new Map<number, (result: PeerResult) => void>();
  #answerer: Answerer | undefined;
  #calls = 0;

  constructor(send: (message: FromWorker) => void) {
    this.#send = send;
    this.store = storeOver({
      call: (call, late) => this.#call(call, exchangeMs, late),
      putBlob: (blob) => send({ type: 'blob', blob }),
    });
    this.turn = turnsOver(
      (turn) => send({ type: 'end-turn', turn }),
      (call) => this.#call(call, turnMs),
    );
    this.persistence = persistenceOver((kept) => this.#call({ kind: 'keep', kept: asText(kept) }));
  }

  // Methods of the interface are called apart from their object too.
  readonly isShared = (): boolean => true;

  readonly ask = async (question: PeerQuestion): Promise<readonly string[]> =>
    answersOf(await this.#call({ kind: 'ask', question }, resultMs));

  readonly apply = async (): Promise<number> =>
    missingOf(await this.#call({ kind: 'ask', question: { kind: 'apply' } }, applyMs + resultMs));

  readonly publish: Peers['publish'] = (families) => this.#send({ type: 'metrics', families });

  readonly metrics: Peers['metrics'] = async () => familiesOf(await this.#call({ kind: 'metrics' }, resultMs));

  readonly answer = (answerer: Answerer): void => {
    this.#answerer = answerer;
  };

  /** Handles a message of the supervisor. */
  receive(message: Received): void {
    if (message.type === 'question') void this.#answer(message.id, message.question);
    else this.#waiting.get(message.id)?.(message.result);
  }

  /** `ms`: how long it waits for the result; absent: until there is one. `late`: gets a further result. */
  #call(call: PeerCall, ms?: number, late?: (result: PeerResult) => void): Promise<PeerResult | undefined> {
    if (this.#waiting.size >= maxCalls) return Promise.resolve(undefined);
    this.#calls += 1;
    const id = this.#calls;
    const result = new Promise<PeerResult>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ type: 'call', id, atMs: Date.now(), call });
    return (ms === undefined ? result : within(ms, result)).finally(() => {
      if (!late) this.#waiting.delete(id);
      else {
        this.#waiting.set(id, late);
        setTimeout(() => this.#waiting.delete(id), lateMs).unref();
      }
    });
  }

  async #answer(id: number, question: PeerQuestion): Promise<void> {
    const answer = await this.#answerer?.(question).catch(() => undefined);
    const fits = answer !== undefined && answer.length <= maxAnswer;
    this.#send({ type: 'answer', id, ...(fits && { answer }) });
  }
}

/** A forked worker that has joined the others. */
interface JoinedWorker extends Pick<JoinedPeer, 'leave'> {
  /** Handles a message of the worker. */
  readonly receive: (message: FromWorker) => void;
}

/** Joins a forked worker to the other processes; `send` reaches the worker. */
export const joinWorker = (exchange: PeerExchange, send: (message: ToWorker) => void): JoinedWorker => {
  /** Bounded: some questions are never answered. */
  const waiting = new BoundedMap<number, (answer: string | undefined) => void>(maxCalls);
  let asked = 0;
  const joined = exchange.join({
    ask: (question) =>
      new Promise((resolve) => {
        asked += 1;
        waiting.set(asked, resolve);
        send({ type: 'question', id: asked, question });
      }),
  });
  return {
    leave() {
      for (const settle of waiting.values()) settle(undefined);
      waiting.clear();
      joined.leave();
    },
    receive(message) {
      switch (message.type) {
        case 'call': {
          const { id, atMs } = message;
          // The sender has given up, and may have continued without an answer.
          if (Date.now() - atMs >= exchangeMs && message.call.kind === 'exchange') return;
          void joined
            .call(message.call, (result) => send({ type: 'result', id, result }))
            .catch(
              (error: unknown): PeerResult => ({
                kind: 'failed',
                ...(error instanceof Error && { problem: error.message.slice(0, 1_024) }),
              }),
            )
            .then((result) => send({ type: 'result', id, result }));
          return;
        }
        case 'answer':
          waiting.get(message.id)?.(message.answer);
          waiting.delete(message.id);
          return;
        case 'blob':
          joined.putBlob(message.blob);
          return;
        case 'end-turn':
          joined.endTurn(message.turn);
          return;
        case 'metrics':
          joined.publish(message.families);
          return;
        default:
          return;
      }
    },
  };
};
