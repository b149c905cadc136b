import test from 'ava';
import { createCommandKeys, wordsOf } from '../../../../engine/upstream/keys/command-keys.ts';
import type { CommandResult } from '../../../../engine/upstream/keys/run-command.ts';

const command = { command: ['vault', 'key'], forMs: 100_000 };

/** Keys whose command ends when the test says so. */
const keysAt = (over: Partial<Parameters<typeof createCommandKeys>[0]> = {}) => {
  const state = { nowMs: 1_000, runs: 0, known: [] as readonly string[], warnings: [] as string[] };
  let end: (result: CommandResult) => void = () => undefined;
  const keys = createCommandKeys({
    allowed: ['vault key'],
    run: () => {
      state.runs += 1;
      return new Promise((resolve) => {
        end = resolve;
      });
    },
    nowMs: () => state.nowMs,
    obtained: (all) => {
      state.known = all;
    },
    warn: (message) => state.warnings.push(message),
    ...over,
  });
  const read = () => keys.read(command, 'work');
  /** Ends the run, and waits until its result is taken. */
  const settle = async (result: CommandResult): Promise<void> => {
    end(result);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { state, keys, read, settle };
};

test('a key is renewed before its time is over, while it is still used', async (t) => {
  const { state, read, settle } = keysAt();
  const first = read();
  t.is(state.runs, 1);
  t.false(typeof first === 'string');
  await settle({ key: 'one' });
  t.is(await first, 'one');
  state.nowMs += 79_000;
  t.is(read(), 'one');
  t.is(state.runs, 1);
  state.nowMs += 2_000;
  t.is(read(), 'one');
  t.is(read(), 'one');
  t.is(state.runs, 2);
  await settle({ key: 'two' });
  t.is(read(), 'two');
  t.deepEqual(state.known, ['one', 'two']);
});

test('a renewal that fails is logged once in a while; the key is used until its time is over', async (t) => {
  const { state, read, settle } = keysAt();
  const first = read();
  await settle({ key: 'one' });
  await first;
  state.nowMs += 85_000;
  t.is(read(), 'one');
  await settle({ problem: 'printed nothing' });
  t.is(read(), 'one');
  t.is(state.runs, 2);
  t.deepEqual(state.warnings, ['the key of work isn\'t renewed: its command "vault" printed nothing']);
  state.nowMs += 20_000;
  const late = read();
  t.is(state.runs, 3);
  await settle({ problem: 'printed nothing' });
  await t.throwsAsync(async () => late, { message: /^Provider "work" can't be used: .* "vault" printed nothing\.$/ });
});

test('a refused key is dropped once; what still had it may try again, what had the newest may not', async (t) => {
  const { state, keys, read, settle } = keysAt();
  const first = read();
  await settle({ key: 'one' });
  await first;
  t.true(keys.renew(command, 'one'));
  t.true(keys.renew(command, 'one'));
  const second = read();
  t.is(state.runs, 2);
  await settle({ key: 'two' });
  t.is(await second, 'two');
  t.true(keys.renew(command, 'one'));
  t.false(keys.renew(command, 'two'));
  t.false(keys.renew(command, 'of another'));
  state.nowMs += 11_000;
  t.true(keys.renew(command, 'two'));
});

test('a command is allowed word for word', (t) => {
  const { keys } = keysAt({ allowed: ['vault  key', '["sh","-c","echo a"]'] });
  t.true(keys.allows(['vault', 'key']));
  t.true(keys.allows(['sh', '-c', 'echo a']));
  for (const other of [['vault'], ['vault', 'key', '-x'], ['vault key'], ['sh', '-c', 'echo', 'a'], []]) {
    t.false(keys.allows(other), other.join());
  }
  t.throws(() => wordsOf('["a", 1]'), { message: /no JSON list of texts/ });
  t.throws(() => wordsOf('["a"'), { message: /no JSON list of texts/ });
});
