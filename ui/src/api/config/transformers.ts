import { call } from '../call.ts';
import type { Transformer } from './config-file.ts';

export type { Transformer } from './config-file.ts';

/** All transformers. */
export const listTransformers = async (signal?: AbortSignal): Promise<readonly Transformer[]> =>
  (await call<{ readonly transformers: readonly Transformer[] }>('/api/transformers', { signal })).transformers;
