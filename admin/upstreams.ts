import Type from 'typebox';
import type { DocumentedRoute } from '../engine/http/documented-route.ts';
import type { Gateway } from '../engine/routing/gateway.ts';
import { type CooldownState, type UpstreamState, upstreamStates } from '../engine/upstream/health/show-health.ts';
import { jsonRoute } from './endpoint.ts';
import { UpstreamRow } from './schema.ts';
import { taughtRows } from './taught.ts';

/** `GET /api/upstreams`: each provider's breakers, keys by number, queue and connections, in this process. */
export const upstreamRoutes = (gateway: () => Gateway): readonly DocumentedRoute[] => [
  jsonRoute('GET', '/api/upstreams', {
    summary: 'How each provider stands: breakers, keys, queue, connections',
    says: 'The providers of the configuration.',
    reply: Type.Object({ upstreams: Type.Array(UpstreamRow) }),
    answer() {
      const { config, taught } = gateway();
      return {
        upstreams: upstreamStates(gateway()).map((state, index) => ({
          ...show(state),
          taught: taughtRows(config.providers[index], taught),
        })),
      };
    },
  }),
];

const show = ({ provider, live, retrying, connections, keys, models }: UpstreamState): Omit<UpstreamRow, 'taught'> => ({
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
