import Type, { type Static } from 'typebox';
import { reader } from '../../model/schema.ts';

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
  /** First message: what to serve, and where other workers listen. */
  Type.Object({
    type: Type.Literal('begin'),
    home: Type.String(),
    transformerFolders: Type.Array(Type.String()),
    taken: Type.Optional(Place),
    fleet: Fleet,
  }),
  Type.Object({ type: Type.Literal('fleet'), fleet: Fleet }),
  /** New workers have taken over; finish the open requests and exit. */
  Type.Object({ type: Type.Literal('retire') }),
  /** The service is stopping; finish the open requests and exit. */
  Type.Object({ type: Type.Literal('stop') }),
  /** Result of a requested restart; `problem`: why it failed. */
  Type.Object({ type: Type.Literal('restarted'), problem: Type.Optional(Type.String()) }),
]);
/** Message from the supervisor to a worker. */
export type ToWorker = Static<typeof ToWorker>;

const FromWorker = Type.Union([
  Type.Object({ type: Type.Literal('ready'), place: Place, drainMs: Type.Number() }),
  /** The worker can't start; `message` is for users. */
  Type.Object({ type: Type.Literal('failed'), message: Type.String() }),
  /** A client requested a restart of the service. */
  Type.Object({ type: Type.Literal('restart') }),
]);
/** Message from a worker to the supervisor. */
export type FromWorker = Static<typeof FromWorker>;

/** Reader for messages that a worker receives. */
export const toWorker = reader(ToWorker);

/** Reader for messages that the supervisor receives. */
export const fromWorker = reader(FromWorker);
