import Type, { type Static } from 'typebox';
import { maxAnswer } from '../../feature.ts';
import { Blob, BlobNames, BlobValues, Pull, Push } from '../../hub/contract.ts';
import { reader } from '../../model/schema.ts';
import { Family } from '../../observe/families.ts';
import { ListenAddress } from './listen-address.ts';
import { WorkerSet } from './worker-set.ts';

/** A question to the service's other processes. Each kind has its own form of answer. */
const PeerQuestion = Type.Union([
  /** Hand over what you have counted; the answer is empty. */
  Type.Object({ kind: Type.Literal('write') }),
  /** Apply the configuration's file; the answer is empty, and absent if it isn't in use. */
  Type.Object({ kind: Type.Literal('apply') }),
  /** Judge the configuration's file; the answer is why it can't be used, and empty if it can. */
  Type.Object({ kind: Type.Literal('judge') }),
  /** Read the kept model lists again; the answer is empty. */
  Type.Object({ kind: Type.Literal('models') }),
  /** A feature's question to itself; the feature knows the answer's form. */
  Type.Object({ kind: Type.Literal('feature'), asked: Type.Object({}) }),
]);
export type PeerQuestion = Static<typeof PeerQuestion>;

/** Data of a process to be persisted. */
const Kept = Type.Union([
  Type.Object({ what: Type.Literal('bounds'), days: Type.Number(), bytes: Type.Number() }),
  Type.Object({
    what: Type.Literal('lines'),
    lines: Type.Unsafe<string | Uint8Array>(Type.String()),
    batch: Type.Optional(Type.Object({ writer: Type.String(), n: Type.Integer() })),
  }),
  /** Removes all requests. */
  Type.Object({ what: Type.Literal('clear') }),
  /** Sets the file of requests aside if it is damaged. */
  Type.Object({ what: Type.Literal('check') }),
]);
export type Kept = Static<typeof Kept>;

/** A worker's call to its supervisor, which has a result. */
const PeerCall = Type.Union([
  /** Ask all other processes. */
  Type.Object({ kind: Type.Literal('ask'), question: PeerQuestion }),
  /** Keep this. */
  Type.Object({ kind: Type.Literal('keep'), kept: Kept }),
  /** Combine the metrics of all processes. */
  Type.Object({ kind: Type.Literal('metrics') }),
  Type.Object({ kind: Type.Literal('exchange'), push: Push }),
  /** A second result follows if more values arrive. */
  Type.Object({ kind: Type.Literal('blobs'), names: BlobNames }),
  /** Wait until no other process changes the configuration; `turn` numbers the worker's waits. */
  Type.Object({ kind: Type.Literal('turn'), turn: Type.Integer() }),
]);
export type PeerCall = Static<typeof PeerCall>;

/** By period and client. */
const ClientUse = Type.Record(
  Type.String(),
  Type.Record(
    Type.String(),
    Type.Object({
      requests: Type.Integer(),
      input: Type.Integer(),
      output: Type.Integer(),
      cost: Type.Integer(),
      unpriced: Type.Integer(),
    }),
  ),
);

const PeerResult = Type.Union([
  /** The answers that came in time, and the number of processes without one. */
  Type.Object({
    kind: Type.Literal('ask'),
    answers: Type.Array(Type.String({ maxLength: maxAnswer })),
    missing: Type.Integer(),
  }),
  /** `told`: what clients have used, after requests were kept. */
  Type.Object({
    kind: Type.Literal('keep'),
    told: Type.Optional(Type.Object({ all: ClientUse, added: ClientUse, restates: Type.Boolean() })),
  }),
  Type.Object({ kind: Type.Literal('metrics'), families: Type.Array(Family) }),
  Type.Object({ kind: Type.Literal('exchange'), pull: Pull }),
  Type.Object({ kind: Type.Literal('blobs'), values: BlobValues }),
  Type.Object({ kind: Type.Literal('turn') }),
  /** There is no result, and none will follow. */
  Type.Object({ kind: Type.Literal('failed'), problem: Type.Optional(Type.String({ maxLength: 1_024 })) }),
]);
export type PeerResult = Static<typeof PeerResult>;

const ToWorker = Type.Union([
  /** First message: what to serve, where other workers listen, and the machine's name in a fleet. */
  Type.Object({
    type: Type.Literal('begin'),
    home: Type.String(),
    transformerFolders: Type.Immutable(Type.Array(Type.String())),
    keyCommands: Type.Immutable(Type.Array(Type.String())),
    taken: Type.Optional(ListenAddress),
    workers: WorkerSet,
    machineId: Type.Optional(Type.String()),
  }),
  Type.Object({ type: Type.Literal('workers'), workers: WorkerSet }),
  /** New workers have taken over; finish the open requests and exit. */
  Type.Object({ type: Type.Literal('retire') }),
  /** The service is stopping; finish the open requests and exit. */
  Type.Object({ type: Type.Literal('stop') }),
  /** Result of a requested restart; `problem`: why it failed. */
  Type.Object({ type: Type.Literal('restarted'), problem: Type.Optional(Type.String()) }),
  /** Answer to a worker's call. */
  Type.Object({ type: Type.Literal('result'), id: Type.Integer(), result: PeerResult }),
  /** A question of another process. */
  Type.Object({ type: Type.Literal('question'), id: Type.Integer(), question: PeerQuestion }),
]);
/** Message from the supervisor to a worker. */
export type ToWorker = Static<typeof ToWorker>;

const FromWorker = Type.Union([
  /** The worker receives messages from now on; Node.js loses earlier ones to processes of its cluster module. */
  Type.Object({ type: Type.Literal('listening') }),
  /** `endMs`: the configured maximum duration of a stop; `greeting`: the start-up banner. */
  Type.Object({ type: Type.Literal('ready'), place: ListenAddress, endMs: Type.Number(), greeting: Type.String() }),
  /** The worker can't start; `message` is for users. */
  Type.Object({ type: Type.Literal('failed'), message: Type.String() }),
  /** A client requested a restart of the service. */
  Type.Object({ type: Type.Literal('restart') }),
  /** `atMs`: when it was sent, by the machine's clock. */
  Type.Object({ type: Type.Literal('call'), id: Type.Integer(), atMs: Type.Number(), call: PeerCall }),
  Type.Object({ type: Type.Literal('blob'), blob: Blob }),
  /** A turn is over, or no longer waited for. */
  Type.Object({ type: Type.Literal('end-turn'), turn: Type.Integer() }),
  /** Answer to a question; absent `answer`: the process has none. */
  Type.Object({
    type: Type.Literal('answer'),
    id: Type.Integer(),
    answer: Type.Optional(Type.String({ maxLength: maxAnswer })),
  }),
  /** Metrics: the counters that changed, and all gauges. */
  Type.Object({ type: Type.Literal('metrics'), families: Type.Immutable(Type.Array(Family, { maxItems: 1_000 })) }),
]);
/** Message from a worker to the supervisor. */
export type FromWorker = Static<typeof FromWorker>;

/** Reader for messages that a worker receives. */
export const toWorker = reader(ToWorker);

/** Reader for messages that the supervisor receives. */
export const fromWorker = reader(FromWorker);
