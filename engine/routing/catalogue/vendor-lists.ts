import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { underFileLock } from '../../config/files/file-lock.ts';
import { writeAtomically } from '../../config/write-atomically.ts';
import { parseJson } from '../../model/json/json.ts';
import { inputKinds } from '../../model/models/model-facts.ts';
import { reader } from '../../model/schema.ts';

/** Providers whose lists are kept. */
const maxProviders = 200;
/** Models of all lists together. */
const maxModels = 20_000;
/** A larger file isn't read. */
const maxBytes = 32 << 20;

const count = Type.Optional(Type.Integer({ minimum: 1 }));
const usd = Type.Optional(Type.Number({ minimum: 0 }));

const KeptModel = Type.Object({
  id: Type.String(),
  context: count,
  maxInput: count,
  maxOutput: count,
  input: Type.Optional(Type.Immutable(Type.Array(Type.Enum([...inputKinds])))),
  reasoning: Type.Optional(Type.Boolean()),
  tools: Type.Optional(Type.Boolean()),
  price: Type.Optional(
    Type.Object({ input: Type.Number(), output: Type.Number(), cacheRead: usd, cacheWrite: usd, cacheWrite1h: usd }),
  ),
  retires: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' })),
});

/** A provider's list as it is kept. */
const KeptList = Type.Object({
  provider: Type.String(),
  /** A list of another address isn't used. Without a query, which may hold secrets. */
  address: Type.String(),
  /** When it was asked for, in milliseconds since 1970. */
  atMs: Type.Integer({ minimum: 0 }),
  models: Type.Immutable(Type.Array(KeptModel)),
});
export type KeptList = Readonly<Static<typeof KeptList>>;

const kept = reader(Type.Object({ lists: Type.Array(KeptList, { maxItems: maxProviders }) }), { compiled: false });

/** A provider's address as lists are kept for it. */
export const addressOf = ({ origin, pathname }: URL): string => origin + pathname;

const fileIn = (home: string): string => join(home, 'models.json');

/** Reads the kept lists; none if there is no file, or one that can't be used. */
export const readVendorLists = async (home: string): Promise<readonly KeptList[]> => {
  const bytes = await readFile(fileIn(home)).catch(() => undefined);
  const value = bytes && bytes.length <= maxBytes ? parseJson(bytes.toString()) : undefined;
  return kept.matches(value) ? value.lists : [];
};

/**
 * Changes the kept lists while no other process does. Rejects with the system's error if they can't be written; `change` has been
 * called then too.
 */
export const changeVendorLists = async (
  home: string,
  change: (lists: readonly KeptList[]) => readonly KeptList[],
): Promise<void> => {
  let isChanged = false;
  const changed = async (): Promise<readonly KeptList[]> => {
    isChanged = true;
    return change(await readVendorLists(home));
  };
  try {
    await underFileLock(fileIn(home), async () =>
      writeAtomically(fileIn(home), `${JSON.stringify({ lists: await changed() })}\n`),
    );
  } catch (error) {
    if (!isChanged) await changed();
    throw error;
  }
};

/** Lists with newer ones in place of those of the same providers, the newest first; as many as may be kept. */
export const mergeLists = (lists: readonly KeptList[], newer: readonly KeptList[]): readonly KeptList[] => {
  const names = new Set(newer.map(({ provider }) => provider));
  let models = 0;
  return [...newer, ...lists.filter(({ provider }) => !names.has(provider))].slice(0, maxProviders).filter((list) => {
    models += list.models.length;
    return models <= maxModels;
  });
};
