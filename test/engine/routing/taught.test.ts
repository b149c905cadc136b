import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Provider } from '../../../engine/config/config.ts';
import { BlobJournal } from '../../../engine/hub/blob-journal.ts';
import { type Entry, maxEntry } from '../../../engine/hub/contract.ts';
import { MemoryStore } from '../../../engine/hub/memory-store.ts';
import type { Lesson } from '../../../engine/model/upstream-error/lesson.ts';
import { TaughtMemory, taughtPrefix } from '../../../engine/routing/taught.ts';

const hour = 3_600_000;
const provider: Provider = {
  name: 'p',
  baseUrl: new URL('https://host.example/v1'),
  apiKeys: ['k'],
  models: ['m'],
  unset: [],
};
const at = { provider, model: 'm' };
const lesson: Lesson = { does: 'leave', field: 'temperature' };
const lessons = (memory: TaughtMemory, model = at) => memory.inForce(model).map((one) => one.lesson);

test('a lesson holds for an hour, and twice as long with each refusal that confirms it', (t) => {
  let nowMs = 0;
  const memory = new TaughtMemory(() => nowMs);
  for (const hours of [1, 2, 4]) {
    memory.learn(at, lesson, 'no');
    t.deepEqual(lessons(memory), [lesson]);
    nowMs += hours * hour;
    t.deepEqual(lessons(memory), []);
    t.is(memory.of(at).length, 1);
  }
  memory.forget(at, lesson);
  t.deepEqual(memory.of(at), []);
});

test('a lesson is of one model of one configuration; keys and lists of models do not matter', (t) => {
  const memory = new TaughtMemory(() => 0);
  memory.learn(at, lesson, 'no');
  t.deepEqual(lessons(memory, { provider, model: 'other' }), []);
  t.deepEqual(
    lessons(memory, { provider: { ...provider, baseUrl: new URL('https://other.example') }, model: 'm' }),
    [],
  );
  t.deepEqual(lessons(memory, { provider: { ...provider, apiKeys: ['other'], models: [] }, model: 'm' }), [lesson]);
});

test('the memory is bounded', (t) => {
  const memory = new TaughtMemory(() => 0);
  for (let index = 0; index < 2_000; index += 1) {
    memory.learn({ provider, model: `m${index}` }, lesson, 'no');
    memory.learn(at, { does: 'leave', field: `f${index}` }, 'no');
  }
  t.is(memory.of(at).length, 16);
  t.is(memory.ofProvider(provider).length, 499 + 16);
});

test('processes share what was taught and what is forgotten, and both survive a restart', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const journal = () => new BlobJournal({ path: join(home, 'taught.jsonl'), report: (line) => t.fail(line) });
  const open = () => {
    const written = journal();
    return {
      store: new MemoryStore({ nowMs: () => 0, epoch: 'e', lasting: { prefix: taughtPrefix, journal: written } }),
      written,
    };
  };
  const about = { about: '', version: 0, totals: [], windows: [], holds: [] };
  const member = (facts: Entry[] = []) => {
    let listener: (fact: Entry) => void = () => undefined;
    const memory = new TaughtMemory(() => 0, {
      publish: (fact) => facts.push(fact),
      onEntry: (heard) => {
        listener = heard;
      },
    });
    return { memory, facts, receive: (all: readonly Entry[]) => all.map((entry) => listener(entry)) };
  };
  const first = open();
  const one = member();
  const other = member();
  const share = async (expected: readonly Lesson[]) => {
    await first.store.exchange({ ...about, member: 'one', epoch: '', facts: one.facts.splice(0) });
    first.written.flush();
    for (const [{ store }, seeing] of [
      [first, other],
      [open(), member()],
    ] as const) {
      seeing.receive((await store.exchange({ ...about, member: 'other', epoch: '', facts: [] })).facts);
      t.deepEqual(lessons(seeing.memory), expected);
    }
  };
  one.memory.learn(at, lesson, '\u0000"\\\ud800'.repeat(1_000));
  t.true((one.facts[0]?.value.length ?? 0) <= maxEntry);
  await share([lesson]);
  one.memory.forget(at, lesson);
  await share([]);
});
