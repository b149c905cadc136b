/*
 * Switches for changes that a program carries, at most one of which is made at a time.
 */

/** The change that is made, by its number; none if 0. Some act while the program loads, so the environment can name one. */
let made = Number(process.env.CHANGED ?? 0);

let reached = new Set<number>();

/** Whether the change is made at this place, which the program reaches. */
export const changed = (number: number): boolean => {
  reached.add(number);
  return number === made;
};

export const make = (number: number): void => {
  made = number;
};

/** The changes whose places were reached since the last call. */
export const takeReached = (): readonly number[] => {
  const taken = [...reached];
  reached = new Set();
  return taken;
};
