import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';

/*
 * Declares tests as the runner does, for a process that runs chosen ones again and again, one after the other: changes of the
 * sources are judged by it. It has what the project's tests use.
 */

type Action = (t: Context, ...args: unknown[]) => unknown;

interface Expectations {
  readonly instanceOf?: abstract new (...args: never[]) => unknown;
  readonly message?: string | RegExp;
  readonly name?: string;
  readonly code?: string | number;
  readonly any?: boolean;
}

/** Runs one test to its end, teardowns included; an error if it fails. */
export type RunTest = () => Promise<void>;

interface TestFile {
  readonly tests: Map<string, RunTest>;
  readonly before: (() => unknown)[];
}

/** What each test file that was loaded declares. */
const declared = new Map<string, TestFile>();

const declarationsOf = (file: string): TestFile => {
  const known = declared.get(file) ?? { tests: new Map<string, RunTest>(), before: [] };
  declared.set(file, known);
  return known;
};

/** The tests of a file, by title, ready to run. */
export const testsIn = async (file: string): Promise<ReadonlyMap<string, RunTest>> => {
  const { tests, before } = declarationsOf(file);
  for (const hook of before.splice(0)) await hook();
  return tests;
};

/** Whether all that `selector` has is in `actual`, at each depth; as in the runner, a list may go on after the selector's end. */
const includes = (actual: unknown, selector: unknown): boolean => {
  if (typeof selector !== 'object' || selector === null) return Object.is(actual, selector);
  if (typeof actual !== 'object' || actual === null) return false;
  if (Array.isArray(selector) && !Array.isArray(actual)) return false;
  if (!Array.isArray(selector) && Object.getPrototypeOf(selector) !== Object.prototype) {
    return isDeepStrictEqual(actual, selector);
  }
  return Object.entries(selector).every(([name, value]) => includes(Reflect.get(actual, name), value));
};

/** Checks an error against what is expected of it, and returns it. */
const expected = (error: unknown, { instanceOf, message, name, code, any }: Expectations = {}): unknown => {
  assert.ok(any || error instanceof Error);
  if (instanceOf) assert.ok(error instanceof instanceOf);
  if (!(error instanceof Error)) return error;
  if (typeof message === 'string') assert.equal(error.message, message);
  else if (message) assert.match(error.message, message);
  if (name !== undefined) assert.equal(error.name, name);
  if (code !== undefined) assert.equal('code' in error ? error.code : undefined, code);
  return error;
};

/** What a test's function gets. */
class Context {
  readonly #teardowns: (() => unknown)[] = [];
  readonly title: string;
  passed = true;

  constructor(title: string) {
    this.title = title;
  }

  teardown(action: () => unknown): void {
    this.#teardowns.unshift(action);
  }

  async end(): Promise<void> {
    for (const action of this.#teardowns) await action();
  }

  is(actual: unknown, value: unknown): void {
    assert.ok(Object.is(actual, value));
  }
  not(actual: unknown, value: unknown): void {
    assert.ok(!Object.is(actual, value));
  }
  deepEqual(actual: unknown, value: unknown): void {
    assert.ok(isDeepStrictEqual(actual, value));
  }
  notDeepEqual(actual: unknown, value: unknown): void {
    assert.ok(!isDeepStrictEqual(actual, value));
  }
  like(actual: unknown, selector: unknown): void {
    assert.ok(includes(actual, selector));
  }
  true(actual: unknown): void {
    assert.equal(actual, true);
  }
  false(actual: unknown): void {
    assert.equal(actual, false);
  }
  truthy(actual: unknown): void {
    assert.ok(actual);
  }
  falsy(actual: unknown): void {
    assert.ok(!actual);
  }
  regex(text: string, pattern: RegExp): void {
    assert.match(text, pattern);
  }
  notRegex(text: string, pattern: RegExp): void {
    assert.doesNotMatch(text, pattern);
  }
  pass(): void {}
  log(): void {}
  timeout(): void {}
  fail(message?: string): never {
    assert.fail(message);
  }
  throws(action: () => unknown, expectations?: Expectations): unknown {
    try {
      action();
    } catch (error) {
      return expected(error, expectations);
    }
    return assert.fail('nothing is thrown');
  }
  notThrows(action: () => unknown): void {
    action();
  }
  async throwsAsync(action: PromiseLike<unknown> | (() => unknown), expectations?: Expectations): Promise<unknown> {
    try {
      await (typeof action === 'function' ? action() : action);
    } catch (error) {
      return expected(error, expectations);
    }
    return assert.fail('nothing is thrown');
  }
  async notThrowsAsync(action: PromiseLike<unknown> | (() => unknown)): Promise<void> {
    await (typeof action === 'function' ? action() : action);
  }
}

/** The runner's `test` for one file. */
export const testOf = (file: string) => {
  const { tests, before } = declarationsOf(file);
  const declare = (title: string, action: Action, ...args: unknown[]): void => {
    tests.set(title, async () => {
      const t = new Context(title);
      try {
        await action(t, ...args);
      } catch (error) {
        t.passed = false;
        throw error;
      } finally {
        await t.end();
      }
    });
  };
  const ignored = () => {};
  const hook = (...args: readonly unknown[]) => {
    const action = args.find((arg): arg is Action => typeof arg === 'function');
    if (action) before.push(() => action(new Context('before')));
  };
  return Object.assign(declare, {
    skip: ignored,
    serial: Object.assign(declare.bind(undefined), { skip: ignored }),
    before: Object.assign(hook, {}),
    after: Object.assign(ignored, { always: ignored }),
  });
};
