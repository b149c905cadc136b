/** Longer names aren't compared: a client may send a name of any length, and the comparison costs its square. */
const maxLength = 80;
/** Shorter beginnings say too little. */
const minStem = 3;

/** Of `names`, up to three that someone who wrote `name` may have meant, closest first. */
export const closeNames = (name: string, names: Iterable<string>): readonly string[] => {
  if (name.length > maxLength) return [];
  const wanted = name.toLowerCase();
  return [...new Set(names)]
    .map((candidate) => ({ candidate, distance: closeness(wanted, candidate.toLowerCase()) }))
    .filter((row) => row.distance <= Math.max(1, Math.floor((wanted.length + 1) / 3)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map((row) => row.candidate);
};

/** The beginning of a longer name counts as one slip, however much is missing. */
const closeness = (wanted: string, candidate: string): number => {
  const [short, long] = wanted.length < candidate.length ? [wanted, candidate] : [candidate, wanted];
  if (short.length >= minStem && long.startsWith(short)) return long.length === short.length ? 0 : 1;
  return long.length - short.length > long.length / 3 ? Number.POSITIVE_INFINITY : distance(wanted, candidate);
};

/** How many letters must be put in, taken out or replaced. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
};
