import Type from 'typebox';
import { referredName, showReferencesIn } from '../engine/config/env.ts';
import { fail } from '../engine/model/fault.ts';
import type { Gateway } from '../engine/routing/gateway.ts';
import { lessonsOfProvider } from '../engine/routing/show-taught.ts';
import { type CooldownState, type UpstreamState, upstreamStates } from '../engine/upstream/health/show-health.ts';
import { done, jsonOperation } from './endpoint.ts';
import { Outcome, UpstreamRow } from './schema.ts';

const name = (description: string) => Type.Optional(Type.String({ description }));

/**
 * `GET /api/upstreams`: each provider's breakers, keys by number, queue and connections, in this process, and what its refusals have
 * taught. `DELETE /api/upstreams/taught` forgets that.
 */
export const upstreamOperations = (gateway: () => Gateway) => ({
  states: jsonOperation({
    summary: 'How each provider stands: breakers, keys, queue, connections, what its refusals have taught',
    says: 'The providers of the configuration.',
    reply: Type.Object({ upstreams: Type.Array(UpstreamRow) }),
    answer() {
      const { config } = gateway();
      const states = upstreamStates(gateway());
      const taught = config.providers.map((provider) => lessonsOfProvider(provider, gateway()));
      const shown = showReferencesIn(config.referred, taught);
      return { upstreams: states.map((state, index) => ({ ...show(state), taught: shown[index] ?? [] })) };
    },
  }),
  forget: jsonOperation({
    summary: "Forgets what a provider's refusals have taught",
    says: 'The fields are sent again, by all processes.',
    reply: Outcome,
    query: {
      provider: Type.String(),
      model: name('Only what was taught of this model.'),
      field: name('Only what was taught of this field.'),
    },
    answer({ query }) {
      const { config, taught } = gateway();
      const asked = new URLSearchParams(query);
      const meant = (given: string | null) => (given === null ? undefined : referredName(config.referred, given));
      const provider = config.providers.find((one) => one.name === meant(asked.get('provider')));
      if (!provider) return fail('not-found', 'There is no such provider.', { param: 'provider' });
      const [model, field] = [meant(asked.get('model')), asked.get('field')];
      const found = taught
        .ofProvider(provider)
        .filter(([of, { lesson }]) => (model ?? of) === of && (field ?? lesson.field) === lesson.field);
      if (found.length === 0) fail('not-found', 'Nothing of this was taught.');
      for (const [of, { lesson }] of found) taught.forget({ provider, model: of }, lesson);
      return done(`Forgotten: ${[...new Set(found.map(([, { lesson }]) => lesson.field))].join(', ')}.`);
    },
  }),
});

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
