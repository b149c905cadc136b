import Type, { type Static } from 'typebox';

/** The processes of a running service. Times are in milliseconds since 1970. */
export const WorkerSet = Type.Object({
  /** Main process of the service: receives signals, and may serve by itself. */
  pid: Type.Integer(),
  startedAtMs: Type.Number(),
  /** Number of restarts since the start. */
  restarts: Type.Integer(),
  /** Processes that accept new connections. */
  workers: Type.Immutable(Type.Array(Type.Object({ pid: Type.Integer(), startedAtMs: Type.Number() }))),
});
export type WorkerSet = Readonly<Static<typeof WorkerSet>>;
