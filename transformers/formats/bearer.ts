import type { Call } from '../../engine/model/transformer.ts';

/** The usual key header; none without a configured key. */
export const bearer = ({ apiKey }: Call): Readonly<Record<string, string>> =>
  apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` };
