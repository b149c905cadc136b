import type { Session } from '../../api/requests/sessions.ts';
import { usd } from '../../format/usd.ts';

/** `≥` before a cost of which a part isn't known. */
export const costOf = ({ cost, unpriced }: Session): string => {
  if (unpriced === 0) return usd(cost);
  return cost === 0 ? '–' : `≥ ${usd(cost)}`;
};

/** The names of the models that answered, in order, each once. */
export const modelNames = ({ models }: Session): string =>
  [...new Set(models.map(({ model }) => model))].join(', ') || '–';
