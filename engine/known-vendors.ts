import type { KnownVendor } from './config/first-start.ts';
import type { Format } from './model/transformer.ts';

/** The vendors whose rows say how a first start sets them up. */
export const knownVendors = (formats: ReadonlyMap<string, Format>): readonly KnownVendor[] =>
  [...formats.values()].flatMap(({ name, firstStart }) => (firstStart ? [{ provider: name, ...firstStart }] : []));
