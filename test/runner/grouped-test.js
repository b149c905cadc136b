// @ts-check
import test from 'ava';

/**
 * The runner's `test` for a file that shares its process with others: titles begin with the file's, and hooks for each test
 * aren't there, which would run for the other files' too.
 * @param {string} name
 */
export const groupedTest = (name) => {
  /** @param {(title: string, ...rest: unknown[]) => void} declare */
  const named =
    (declare) =>
    /** @param {string} title @param {unknown[]} rest */
    (title, ...rest) =>
      declare(`${name} › ${title}`, ...rest);
  return Object.assign(named(/** @type {never} */ (test)), {
    skip: named(/** @type {never} */ (test.skip)),
    serial: Object.assign(named(/** @type {never} */ (test.serial)), {
      skip: named(/** @type {never} */ (test.serial.skip)),
    }),
    before: test.before,
    after: test.after,
  });
};
