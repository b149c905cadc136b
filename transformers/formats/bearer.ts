import type { Call } from '../../engine/model/transformer.ts';

/** The key as most vendors take it; none is sent where none is configured. */
export const bearer = ({ apiKey }: Call): Readonly<Record<string, string>> =>
  apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` };
