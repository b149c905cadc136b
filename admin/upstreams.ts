import { defer, of } from 'rxjs';
import Type from 'typebox';
import { type RestState, type UpstreamState, upstreamStates } from '../engine/retry/upstream-state.ts';
import type { Yard } from '../engine/yard/yard.ts';
import { jsonReply } from './json-reply.ts';
import type { DocumentedRow, OperationDoc } from './operation-doc.ts';
import { ServiceFault } from './operation-docs.ts';
import { wordFault } from './word-fault.ts';

const reason = Type.Union([Type.Literal('limited'), Type.Literal('refused'), Type.Literal('forbidden')]);
const forMs = Type.Integer({ description: 'For so many milliseconds more.' });
const count = (description: string) => Type.Integer({ description, minimum: 0 });
const keyNumber = Type.Integer({ description: 'The place of the key in the list, from 1 on.', minimum: 1 });

const Upstream = Type.Object({
  provider: Type.String(),
  live: count('Requests at work, from their first try to the end of their answer.'),
  retrying: count('Of these, the ones on a further try.'),
  connections: Type.Object({ inUse: count('Of its origin, which other providers may share.'), idle: count('') }),
  queue: Type.Object({ length: count('Calls that wait for a connection.'), refused: count('That got none so far.') }),
  keys: Type.Array(
    Type.Object({ number: keyNumber, rest: Type.Union([Type.Object({ why: reason, forMs }), Type.Null()]) }),
  ),
  models: Type.Array(
    Type.Object({
      model: Type.String(),
      breaker: Type.Union([Type.Literal('closed'), Type.Literal('open'), Type.Literal('half-open')]),
      faults: count('In a row.'),
      waitMs: count('Milliseconds until a request may try; 0: one may now.'),
      resting: Type.Array(Type.Object({ number: keyNumber, why: reason, forMs })),
    }),
  ),
});

const Upstreams = Type.Object({ upstreams: Type.Array(Upstream) });

/** `GET /api/upstreams`: how each provider stands: its breakers, keys by number, queue and connections. Of this process alone. */
export const upstreamRows = (yard: () => Yard): readonly DocumentedRow[] => [
  {
    method: 'GET',
    path: '/api/upstreams',
    endpoint: {
      open: false,
      wordFault,
      handle: () => defer(() => of(jsonReply({ upstreams: upstreamStates(yard()).map(show) }))),
    },
    doc,
  },
];

const show = ({ provider, live, retrying, connections, keys, models }: UpstreamState) => ({
  provider,
  live,
  retrying,
  connections: { inUse: connections.inUse, idle: connections.idle },
  queue: { length: connections.waiting, refused: connections.refused },
  keys: keys.map(({ number, rest }) => ({ number, rest: rest ? showRest(rest) : null })),
  models: models.map(({ model, breaker, faults, waitMs, resting }) => ({
    model,
    breaker,
    faults,
    waitMs: Math.ceil(waitMs),
    resting: resting.map((rest) => ({ number: rest.number, ...showRest(rest) })),
  })),
});

const showRest = ({ why, forMs: left }: RestState) => ({ why, forMs: Math.ceil(left) });

const doc: OperationDoc = {
  summary: 'How each provider stands: breakers, keys, queue, connections',
  group: 'management',
  answers: { 200: { says: 'The providers of the configuration.', content: { 'application/json': Upstreams } } },
  fault: ServiceFault,
};
