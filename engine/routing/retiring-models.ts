import type { Finding } from '../config/diagnostics.ts';
import { memberPath } from '../model/schema.ts';
import type { Gateway } from './gateway.ts';

/** How long before its end a model is reported. */
const noticeMs = 30 * 86_400_000;

/** The configured models that are shut down, or will be within 30 days. */
export const retiringModels = (
  { config, modelFacts }: Pick<Gateway, 'config' | 'modelFacts'>,
  nowMs: number,
): readonly Finding[] =>
  config.providers.flatMap((provider, index) =>
    provider.models.flatMap((model) => {
      const { retires } = modelFacts({ provider, model });
      const atMs = Date.parse(retires ?? '');
      // Also false for a model without a date.
      if (!(atMs - nowMs <= noticeMs)) return [];
      const path = `${memberPath('Providers', index)}.models`;
      const when = atMs <= nowMs ? `was shut down on ${retires}` : `retires on ${retires}`;
      return [{ path, message: `names ${JSON.stringify(model)}, which ${when}` }];
    }),
  );
