import type { ConfigFile, Transformer } from '../../../api/config/config-file.ts';
import { isJsonObject } from '../../../api/json.ts';
import { facts, joins } from '../../../config/conditions.ts';
import { type Entry, entryOf, knownOf } from '../../../config/draft/entry.ts';

/** The names of the facts that a condition looks at. */
export const conditionOf = (when: unknown): string => {
  const titles = Object.keys(isJsonObject(when) ? when : {}).map(
    (name) => [...facts, ...joins].find((one) => one.name === name)?.title ?? name,
  );
  return titles.join(', ') || 'every request';
};

/** The stages that a destination's requests run through, in order. */
export const stagesOf = (
  config: ConfigFile,
  transformers: readonly Transformer[],
  provider: string,
  model: string,
): readonly string[] => entriesFor(config, transformers, provider, model).map(nameOf);

/** Which requests the stages with a condition run for. */
export const conditionsOf = (...of: Parameters<typeof stagesOf>): readonly string[] =>
  entriesFor(...of).flatMap((entry) =>
    entry.when === undefined ? [] : `${nameOf(entry)} runs only by its condition: ${conditionOf(entry.when)}`,
  );

const nameOf = ({ name, path }: Entry): string => name ?? path ?? '';

const entriesFor = (
  { transformers: entries = [] }: ConfigFile,
  transformers: readonly Transformer[],
  provider: string,
  model: string,
): readonly Entry[] =>
  entries.map(entryOf).filter((entry) => {
    const applies =
      (entry.provider === undefined || entry.provider === provider) &&
      (entry.models === undefined || entry.models.includes(model));
    return applies && knownOf(entry, transformers)?.kind !== 'format';
  });

/** The stages that are around a destination's calls, or ask models, with whom they may ask. */
export const askingStagesOf = (
  config: ConfigFile,
  transformers: readonly Transformer[],
  provider: string,
  model: string,
): readonly { readonly name: string; readonly isAround: boolean; readonly ask: readonly string[] }[] =>
  entriesFor(config, transformers, provider, model).flatMap((entry) => {
    const { halves, asks = false } = knownOf(entry, transformers) ?? {};
    const isAround = halves?.around === true;
    return isAround || asks ? [{ name: nameOf(entry), isAround, ask: entry.ask ?? [] }] : [];
  });

/** What such a stage may do. */
export const textOfAsking = ({ name, isAround, ask }: ReturnType<typeof askingStagesOf>[number]): string => {
  const asked = ask.length === 0 ? '' : `may ask ${ask.join(' and ')}`;
  return `${name} ${[isAround && 'is around the call', asked].filter(Boolean).join(' and ') || 'has no model to ask'}`;
};
