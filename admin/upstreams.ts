import Type from 'typebox';
import type { Gateway } from '../engine/routing/gateway.ts';
import { type CooldownState, type UpstreamState, upstreamStates } from '../engine/upstream/health/show-health.ts';
import { type DocumentedRoute, jsonRoute } from './endpoint.ts';

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

/** `GET /api/upstreams`: each provider's breakers, keys by number, queue and connections, in this process. */
export const upstreamRoutes = (gateway: () => Gateway): readonly DocumentedRoute[] => [
  jsonRoute(
    'GET',
    '/api/upstreams',
    {
      summary: 'How each provider stands: breakers, keys, queue, connections',
      says: 'The providers of the configuration.',
      reply: Type.Object({ upstreams: Type.Array(Upstream) }),
    },
    () => ({ upstreams: upstreamStates(gateway()).map(show) }),
  ),
];

const show = ({ provider, live, retrying, connections, keys, models }: UpstreamState) => ({
  provider,
  live,
  retrying,
  connections: { inUse: connections.inUse, idle: connections.idle },
  queue: { length: connections.waiting, refused: connections.refused },
  keys: keys.map(({ number, rest }) => ({ number, rest: rest ? showCooldown(rest) : null })),
  models: models.map(({ model, breaker, faults, waitMs, resting }) => ({
    model,
    breaker,
    faults,
    waitMs: Math.ceil(waitMs),
    resting: resting.map((rest) => ({ number: rest.number, ...showCooldown(rest) })),
  })),
});

const showCooldown = ({ why, forMs: left }: CooldownState) => ({ why, forMs: Math.ceil(left) });
