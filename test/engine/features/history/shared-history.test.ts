import test from 'ava';
import { createHistory } from '../../../../engine/features/history/history.ts';
import type { HistoryReading } from '../../../../engine/features/history/questions.ts';
import { shareHistory } from '../../../../engine/features/history/shared-history.ts';
import type { RequestSummary } from '../../../../engine/features/record/schema.ts';
import { RequestRecords } from '../../../../engine/request-record.ts';

const summary = (n: number): RequestSummary => ({
  n,
  id: `r${n}`,
  startedAt: 0,
  path: '/',
  protocol: 'messages',
  asked: '',
  stream: false,
  status: 200,
  durationMs: 1,
  losses: [],
  relayed: { request: false, reply: false },
  captured: false,
});

/** Other machines, each with the numbers of the requests that ended there, by its own clock. */
const fleetOf = (machines: Readonly<Record<string, number[]>>) => {
  const asked: HistoryReading[] = [];
  const silent = new Set<string>();
  const answer = (id: string, question: HistoryReading): string => {
    asked.push(question);
    if (question.kind !== 'requests') return '';
    const numbers = machines[id] ?? [];
    const requests = numbers.filter((n) => n > question.after && n <= question.until).map(summary);
    return JSON.stringify({ newest: Math.max(0, ...numbers), requests });
  };
  const own = createHistory({
    secrets: () => [],
    variableOf: String,
    baseUrl: String,
    numbersByTime: true,
    sessionOf: () => undefined,
    active: new RequestRecords().active,
    policy: () => ({ captureFailed: false, captureMinutes: 1 }),
  });
  let nowMs = 0;
  const shared = shareHistory(
    own,
    undefined,
    {
      isShared: () => true,
      async ask(questionOf) {
        const ids = Object.keys(machines).filter((id) => !silent.has(id));
        return {
          heard: { known: 3, heard: ids.length + 1 },
          answers: ids.map((id) => ({ id, machine: id, text: answer(id, questionOf(id)) })),
        };
      },
    },
    () => undefined,
    () => nowMs,
  );
  return {
    asked,
    silent,
    shared,
    later: (ms: number): void => {
      nowMs += ms;
    },
  };
};

test('a reader that follows gets each request once, of machines whose clocks differ and that are silent at times', async (t) => {
  const machines = { ahead: [9_000], behind: [10] };
  const { shared, silent, later } = fleetOf(machines);
  const follow = shared.follow();
  const next = async (): Promise<string> => (await follow()).requests.map(({ machine, n }) => `${machine} ${n}`).join();
  t.is(await next(), 'ahead 9000,behind 10');
  machines.behind.push(20);
  later(1_000);
  t.is(await next(), 'behind 20', 'though its number is lower than that of what was told');
  silent.add('behind');
  machines.behind.push(30);
  machines.ahead.push(9_100);
  later(1_000);
  t.is(await next(), 'ahead 9100');
  silent.clear();
  later(1_000);
  t.is(await next(), 'behind 30');
  later(1_000);
  t.is(await next(), '');
});

test('readers that follow ask a machine once a second together, and miss nothing; another reader asks at once', async (t) => {
  const machines = { other: [1] };
  const { shared, asked, later } = fleetOf(machines);
  const readers = [shared.follow(), shared.follow()];
  const next = async (): Promise<readonly string[]> => {
    const told: string[] = [];
    for (const follow of readers) told.push((await follow()).requests.map(({ n }) => n).join());
    return told;
  };
  t.deepEqual(await next(), ['1', '1']);
  machines.other.push(2);
  later(999);
  t.deepEqual(await next(), ['', '']);
  t.is(asked.length, 1);
  later(1);
  t.deepEqual(await next(), ['2', '2']);
  machines.other.push(3);
  later(200);
  readers.push(shared.follow());
  t.deepEqual(await next(), ['', '', '3,2,1'], 'a new reader needs what the answers of that second lack');
  later(1_000);
  t.deepEqual(await next(), ['3', '3', '']);
  const before = asked.length;
  for (const maxAgeMs of [0, 1_000, 1_000]) await shared.activity(0, maxAgeMs);
  t.is(asked.length, before + 2);
});

test('the number to go on from does not go back when the machine that had the highest is silent', async (t) => {
  const { shared, silent } = fleetOf({ other: [500] });
  const { newest } = await shared.list(0, 10);
  silent.add('other');
  t.is((await shared.list(newest, 10)).newest, 500);
});
