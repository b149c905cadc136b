import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { SchemaFault } from '../model/schema.ts';
import type { ImportNotes } from './import-providers.ts';

/** The transformers that there are here: what is wrong with options, by lower-case name. */
export type KnownTransformers = ReadonlyMap<string, (options: JsonObject) => readonly SchemaFault[]>;

interface Place {
  readonly at: string;
  readonly provider: string;
}

/** The `transformer` field of the other gateway's provider → entries of our list, in its order. */
export const importTransformers = (
  field: Json | undefined,
  place: Place,
  notes: ImportNotes,
  known: KnownTransformers,
): readonly JsonObject[] =>
  Object.entries(isJsonObject(field) ? field : {}).flatMap(([key, value]) => {
    const uses = key === 'use' ? value : isJsonObject(value) ? value.use : undefined;
    const at = key === 'use' ? `${place.at}.use` : `${place.at}.${key}.use`;
    if (!Array.isArray(uses)) {
      notes.left.push({ path: `${place.at}.${key}`, why: 'it has no list of transformers' });
      return [];
    }
    const narrowed = { provider: place.provider, ...(key !== 'use' && { models: [key] }) };
    return uses.flatMap((use: Json, index) => importUse(use, `${at}[${index}]`, narrowed, notes, known));
  });

const importUse = (
  use: Json,
  path: string,
  narrowed: JsonObject,
  notes: ImportNotes,
  known: KnownTransformers,
): readonly JsonObject[] => {
  const [name, given] = Array.isArray(use) ? use : [use];
  const ownName = typeof name === 'string' ? name.toLowerCase() : '';
  const faultsOf = known.get(ownName);
  if (!faultsOf) {
    notes.left.push({ path, why: `there is no transformer ${JSON.stringify(name ?? null)} here` });
    return [];
  }
  const options = isJsonObject(given) ? given : {};
  const [fault] = faultsOf(options);
  if (fault)
    notes.left.push({ path: `${path}[1]`, why: `${fault.path} ${fault.message}; ${ownName} is used without options` });
  notes.taken.push(path);
  return [{ name: ownName, ...narrowed, ...(Object.keys(options).length > 0 && !fault && { options }) }];
};
