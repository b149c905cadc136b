/**
 * Chooses the models of a first run: the known models that the vendor lists, in order. An unlisted model is replaced by the
 * newest of its family (`claude-opus-5-5` by `claude-opus-6`). If none matches, the first listed models are chosen; without a
 * list, the known models.
 */
export const chooseModels = (known: readonly string[], listed: readonly string[]): readonly string[] => {
  const has = new Set(listed);
  const chosen = known.flatMap((name) => (has.has(name) ? [name] : newestOfFamily(name, listed)));
  if (chosen.length > 0) return [...new Set(chosen)];
  return listed.length > 0 ? listed.slice(0, maxListed) : known;
};

const maxListed = 3;

const newestOfFamily = (name: string, listed: readonly string[]): readonly string[] => {
  const family = familyOf(name);
  const [newest] = listed
    .filter((other) => familyOf(other) === family)
    .sort((one, other) => compare(versionOf(other), versionOf(one)));
  return newest === undefined ? [] : [newest];
};

/** A name without its version numbers. */
const familyOf = (name: string): string =>
  name
    .split(/[-.]/)
    .filter((word) => !isNumber(word))
    .join('-');

/** A name's version numbers, without dates. */
const versionOf = (name: string): readonly number[] =>
  name
    .split(/[-.]/)
    .filter((word) => isNumber(word) && word.length < 4)
    .map(Number);

const isNumber = (word: string): boolean => /^\d+$/.test(word);

const compare = (one: readonly number[], other: readonly number[]): number => {
  const at = one.findIndex((number, index) => number !== other[index]);
  return at < 0 ? one.length - other.length : (one[at] ?? 0) - (other[at] ?? -1);
};
