import Type from 'typebox';
import { jsonOperation } from '../../admin/endpoint.ts';
import { lazyRoutes } from '../../admin/lazy-routes.ts';
import type { FeatureFolder } from '../../engine/feature.ts';

const SlowRequests = Type.Array(Type.Object({ provider: Type.String(), count: Type.Integer() }));

/** Counts the requests of each provider that waited longer than `SLOW_MS` milliseconds for their first byte. */
export const slowRequests: FeatureFolder = {
  configured: (_config, { env }) => env.SLOW_MS !== undefined,
  async open({ env }) {
    const limitMs = Number(env.SLOW_MS);
    // Providers are configured, so their number is bounded.
    const counts = new Map<string, number>();
    return {
      listener: {
        finished(_status, { provider, firstByteMs = 0 }) {
          if (provider !== undefined && firstByteMs > limitMs) counts.set(provider, (counts.get(provider) ?? 0) + 1);
        },
      },
      metrics: [
        {
          type: 'counter',
          name: 'slow_requests_total',
          help: `Requests that waited longer than ${limitMs} ms for their first byte.`,
          labelNames: ['provider'],
          samples: () => [...counts].map(([provider, value]) => ({ labels: [provider], value })),
        },
      ],
      routes: lazyRoutes({ counts: 'GET /api/slow' }, async () => ({
        counts: jsonOperation({
          summary: 'Slow requests by provider',
          says: 'The counts.',
          reply: SlowRequests,
          answer: () => [...counts].map(([provider, count]) => ({ provider, count })),
        }),
      })),
    };
  },
};
