import Type, { type Static } from 'typebox';
import { reader } from '../model/schema.ts';

const Place = Type.Object({
  host: Type.String(),
  configuredPort: Type.Integer(),
  port: Type.Integer(),
  addresses: Type.Array(Type.String()),
});

const Fleet = Type.Object({
  pid: Type.Integer(),
  startedAtMs: Type.Number(),
  restarts: Type.Integer(),
  workers: Type.Array(Type.Object({ pid: Type.Integer(), startedAtMs: Type.Number() })),
});

const ToWorker = Type.Union([
  /** Comes first: what to serve, and beside whom. */
  Type.Object({
    type: Type.Literal('begin'),
    home: Type.String(),
    transformerFolders: Type.Array(Type.String()),
    taken: Type.Optional(Place),
    fleet: Fleet,
  }),
  Type.Object({ type: Type.Literal('fleet'), fleet: Fleet }),
  /** Others have taken over: finish what has begun. */
  Type.Object({ type: Type.Literal('retire') }),
  /** The service ends. */
  Type.Object({ type: Type.Literal('stop') }),
  /** What came of a restart that was asked for; with `problem`, nothing did. */
  Type.Object({ type: Type.Literal('restarted'), problem: Type.Optional(Type.String()) }),
]);
/** What a supervisor tells a worker. */
export type ToWorker = Static<typeof ToWorker>;

const FromWorker = Type.Union([
  Type.Object({ type: Type.Literal('ready'), place: Place, drainMs: Type.Number() }),
  /** It can't start; the message is worded for users. */
  Type.Object({ type: Type.Literal('failed'), message: Type.String() }),
  /** A client has asked for a restart of the service. */
  Type.Object({ type: Type.Literal('restart') }),
]);
/** What a worker tells its supervisor. */
export type FromWorker = Static<typeof FromWorker>;

/** Messages to workers, as they arrive there. */
export const toWorker = reader(ToWorker);

/** Messages from workers, as they arrive at the supervisor. */
export const fromWorker = reader(FromWorker);
