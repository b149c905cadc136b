import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { findNewest, NewestRequests } from '../../admin/requests/newest.ts';
import { HistorySearch } from '../../engine/features/history/files/search-history.ts';
import type { KeptRequest } from '../../engine/features/record/schema.ts';

const line = (endedAt: number, id: string, session = 's'): string =>
  `${JSON.stringify({
    endedAt,
    ...{ n: 1, id, startedAt: endedAt, path: '/v1/messages', protocol: 'messages', asked: 'any', stream: true },
    ...{ status: 200, durationMs: 0, losses: [], relayed: { request: false, reply: false }, captured: false, session },
  } satisfies KeptRequest)}\n`;

/** A history on disk, its clock, and what its searches looked at. */
class Rig {
  nowMs = 1_800_000_000_000;
  looked = 0;
  readonly folder: string;
  readonly parts: ConstructorParameters<typeof NewestRequests>[0];
  #n = 0;

  constructor(folder: string) {
    this.folder = folder;
    this.parts = {
      history: {
        search: new HistorySearch(folder),
        write: async () => undefined,
        days: () => 30,
        nowMs: () => this.nowMs,
      },
      requests: { list: async () => ({ requests: [], newest: 0 }) },
    };
  }

  /** Writes requests that have just ended to the file of a process that began at a time, whose clock may be behind. */
  async end(count: number, startedMs: number): Promise<void> {
    const endedAt = Math.max(startedMs, this.nowMs - (startedMs % 900));
    let text = '';
    for (let n = 0; n < count; n += 1) {
      this.#n += 1;
      text += line(endedAt, `r${this.#n}`, `s${this.#n % 3}`);
    }
    await appendFile(this.fileOf(startedMs), text);
  }

  fileOf(startedMs: number): string {
    return join(this.folder, `${startedMs}.1-${startedMs}.jsonl`);
  }

  /** A filter that counts what it looks at. */
  filter(fromMs: number, session?: string) {
    const matches = (request: KeptRequest): boolean => {
      this.looked += 1;
      return session === undefined || request.session === session;
    };
    return { fromMs, matches };
  }
}

const rigOf = async (t: ExecutionContext): Promise<Rig> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-newest-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return new Rig(folder);
};

const idOf = ({ id }: KeptRequest): string => id;

test('a question that is asked again reads only what is new, for all pages that ask it', async (t) => {
  const rig = await rigOf(t);
  const file = rig.nowMs;
  await rig.end(5_000, file);
  const newest = new NewestRequests(rig.parts, 10_000, idOf);
  const ask = () => newest.ask('all', rig.filter(0));
  rig.nowMs += 10_000;
  t.is((await ask()).requests.length, 5_000);
  t.is(rig.looked, 5_000);
  for (let round = 1; round <= 10; round += 1) {
    rig.nowMs += 10_000;
    await rig.end(3, file);
    rig.looked = 0;
    const answers = await Promise.all([ask(), ask(), ask()]);
    t.deepEqual(new Set(answers.map(({ requests }) => requests.length)), new Set([5_000 + 3 * round]));
    // Each looks at the seconds before the last answer again.
    t.true(rig.looked <= 4 * 3, `${rig.looked}`);
  }
});

/** What happens between two questions. */
const step = fc.record({
  what: fc.constantFrom('end', 'end', 'end', 'begin', 'remove', 'nothing'),
  ms: fc.integer({ min: 0, max: 6_000 }),
  count: fc.integer({ min: 1, max: 9 }),
  file: fc.nat(5),
  spanMs: fc.constantFrom(20_000, 600_000),
  session: fc.constantFrom(undefined, 's1'),
});

const limit = 60;

test('it is what a search of everything finds, whatever is added, removed or too old', async (t) => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
    const rig = await rigOf(t);
    const newest = new NewestRequests(rig.parts, limit, idOf);
    const files: number[] = [];
    for (const { what, ms, count, file, spanMs, session } of steps) {
      rig.nowMs += ms;
      if (what === 'begin' || files.length === 0) files.push(rig.nowMs);
      const startedMs = files[file % files.length] ?? 0;
      if (what === 'end') await rig.end(count, startedMs);
      if (what === 'remove') {
        files.splice(files.indexOf(startedMs), 1);
        await rm(rig.fileOf(startedMs), { force: true });
      }
      const filter = rig.filter(rig.nowMs - spanMs, session);
      const asked = await newest.ask(`${spanMs} ${session}`, filter);
      const found = await findNewest(rig.parts, filter, limit);
      assert.deepEqual(asked.requests.toSorted(), found.requests.map(idOf).toSorted());
      // A search that ends at its limit may say that there is more where there isn't.
      if (asked.requests.length < limit) assert.equal(asked.truncated, found.truncated);
    }
  });
  await fc.assert(property, { numRuns: 15, seed: 1, endOnFailure: true });
  t.pass();
});

test('other work has its turn after each slice of a search, however long that is', async (t) => {
  const rig = await rigOf(t);
  await rig.end(20_000, rig.nowMs);
  let since = 0;
  let longest = 0;
  let isSearching = true;
  const turn = (): void => {
    since = 0;
    if (isSearching) setImmediate(turn);
  };
  turn();
  const matches = (): boolean => {
    since += 1;
    longest = Math.max(longest, since);
    return false;
  };
  await rig.parts.history.search.find({ matches }, { limit: 1, maxBytes: 64 << 20 });
  isSearching = false;
  t.true(longest < 100, `${longest} lines at a stretch`);
});
