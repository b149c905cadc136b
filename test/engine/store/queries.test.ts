import assert from 'node:assert/strict';
import test from 'ava';
import fc from 'fast-check';
import type { KeptRequest } from '../../../engine/features/record/schema.ts';
import { hasFailed } from '../../../engine/model/status.ts';
import { storeAnswers } from '../../../engine/store/queries.ts';
import { type Answers, type RequestFilter, type Sort, sorts } from '../../../engine/store/questions.ts';
import { loadSqlite } from '../../../engine/store/sqlite.ts';
import { StoreWriter } from '../../../engine/store/writer.ts';
import { keptRequest, linesOf, someRequests } from './requests.ts';

const sqlite = loadSqlite();

/** Questions about requests in memory. */
const asked = <T>(requests: readonly KeptRequest[], ask: (answers: Answers) => T): T => {
  assert.ok(sqlite);
  const writer = new StoreWriter(sqlite, { file: ':memory:' }, assert.fail);
  try {
    return ask(storeAnswers(writer.filled(linesOf(requests))));
  } finally {
    writer.close();
  }
};

const failed = ({ status, fault }: KeptRequest): boolean => hasFailed(status, fault !== undefined);

/** What a filter means. */
const passes = (filter: RequestFilter, request: KeptRequest): boolean => {
  const { fromMs = 0, toMs = Number.POSITIVE_INFINITY, model, provider, client, session, text, status } = filter;
  const texts = [request.id, request.session, request.asked, request.provider, request.model, request.path]
    .concat([request.scenario, request.reason, request.client, request.fault?.kind, request.fault?.message])
    .map((one) => one?.toLowerCase() ?? '');
  return (
    request.endedAt >= fromMs &&
    request.endedAt <= toMs &&
    (model === undefined || [request.model, request.asked, `${request.provider},${request.model}`].includes(model)) &&
    (provider === undefined || request.provider === provider) &&
    (client === undefined || request.client === client) &&
    (session === undefined || request.session === session) &&
    (text === undefined || texts.some((one) => one.includes(text.toLowerCase()))) &&
    (filter.lossy !== true || request.losses.length > 0) &&
    (status === undefined ||
      (status === 'failed' && failed(request)) ||
      (status === 'ok' && !failed(request) && request.status < 400) ||
      status === String(request.status) ||
      status === `${String(request.status)[0]}xx`) &&
    // From 300 ms on.
    (filter.duration === undefined || request.durationMs >= 300) &&
    // A milliondth of a USD or more.
    (filter.cost === undefined || (request.cost ?? 0) >= 1e6)
  );
};

const option = <T>(...values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });

const filters: fc.Arbitrary<RequestFilter> = fc.record({
  fromMs: option(1_800_000_001_000),
  toMs: option(1_800_000_002_000),
  model: option('m', 'p,m', 'any'),
  provider: option('p'),
  client: option('one'),
  session: option('s1', 'none'),
  text: option('R1', '100 %', '_one', 'think', 'S2'),
  status: option('ok', 'failed', '4xx', '500'),
  lossy: option(true),
  duration: option({ first: 1, last: 7 }),
  cost: option({ first: 1, last: 6 }),
});

const sortedBy = {
  time: ({ endedAt }) => endedAt,
  duration: ({ durationMs }) => durationMs,
  firstByte: ({ firstByteMs }) => firstByteMs,
  cost: ({ cost }) => cost,
  tokens: ({ usage: { input = 0, output = 0 } = {} }) => input + output,
} as const satisfies Record<Sort, (request: KeptRequest) => number | undefined>;

test('pages have what a filter lets pass, each request once, sorted by any figure', (t) => {
  const property = fc.property(
    ...([someRequests, filters, fc.constantFrom(...sorts), fc.integer({ min: 1, max: 20 })] as const),
    (requests, filter, sort, limit) => {
      const figure = sortedBy[sort];
      const expected = requests
        .map((request, at) => ({ request, at, by: figure(request) }))
        .filter(({ request, by }) => by !== undefined && passes(filter, request))
        .toSorted((one, other) => (other.by ?? 0) - (one.by ?? 0) || other.at - one.at)
        .map(({ request }) => request);
      const found = asked(requests, ({ page }) => {
        const lines: string[] = [];
        let before: string | undefined;
        do {
          const answer = page({ filter, sort, limit, before });
          assert.ok(answer.lines.length <= limit);
          lines.push(...answer.lines);
          before = answer.next;
        } while (before !== undefined);
        return lines.map((line) => JSON.parse(line));
      });
      assert.deepEqual(found, expected);
    },
  );
  fc.assert(property, { numRuns: 150 });
  t.pass();
});

const countBy = (names: readonly (string | undefined)[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const one of names) if (one !== undefined) counts[one] = (counts[one] ?? 0) + 1;
  return counts;
};

test('facets count each value among the requests that pass the other filters', (t) => {
  const property = fc.property(someRequests, filters, (requests, filter) => {
    const { facets, ...sums } = asked(requests, (answers) => answers.facets(filter));
    const fitting = (without?: keyof RequestFilter) =>
      requests.filter((request) => passes(without ? { ...filter, [without]: undefined } : filter, request));
    assert.deepEqual(sums, {
      requests: fitting().length,
      failed: fitting().filter(failed).length,
      lossy: fitting().filter(({ losses }) => losses.length > 0).length,
    });
    const shown = (name: keyof typeof facets) =>
      Object.fromEntries(facets[name].map(({ value, requests: count }) => [value, count]));
    for (const name of ['client', 'session'] as const) {
      const last = (value: string): number =>
        Math.max(...fitting(name).flatMap((one) => (one[name] === value ? one.endedAt : [])));
      const ranks = facets[name].map(({ value, requests: count }) => count * 1e13 + last(value));
      assert.deepEqual(
        ranks,
        ranks.toSorted((one, other) => other - one),
        'the most frequent first, then the newest',
      );
    }
    assert.deepEqual(shown('status'), countBy(fitting('status').map(({ status }) => String(status))));
    assert.deepEqual(shown('client'), countBy(fitting('client').map(({ client }) => client)));
    assert.deepEqual(shown('session'), countBy(fitting('session').map(({ session }) => session)));
    assert.deepEqual(
      shown('model'),
      countBy(fitting('model').map(({ provider = '', model }) => (model ? `${provider},${model}` : undefined))),
    );
    const bound = (bounds: readonly number[], value: number | undefined) =>
      value === undefined ? undefined : String(bounds.findLast((one) => value >= one));
    assert.deepEqual(
      shown('duration'),
      countBy(fitting('duration').map(({ durationMs }) => bound([0, 300, 1_000, 180_000], durationMs))),
    );
    assert.deepEqual(shown('cost'), countBy(fitting('cost').map(({ cost }) => bound([0, 1e6, 1e10], cost))));
    assert.deepEqual(shown('tools'), countBy(fitting().map(({ tools = [] }) => bound([0, 1, 2, 5], tools.length))));
  });
  fc.assert(property, { numRuns: 150 });
  t.pass();
});

test('bars, failures and sums by client and model add up to the requests', (t) => {
  const property = fc.property(someRequests, filters, fc.integer({ min: 1, max: 9 }), (requests, filter, bars) => {
    const fitting = requests.filter((request) => passes(filter, request));
    asked(requests, ({ histogram, failures, clientModels }) => {
      const drawn = histogram({ filter, bars }).bars;
      assert.ok(drawn.length <= bars);
      assert.equal(
        drawn.reduce((sum, bar) => sum + bar.requests, 0),
        fitting.length,
      );
      assert.equal(
        drawn.reduce((sum, bar) => sum + bar.failed, 0),
        fitting.filter(failed).length,
      );
      const slowest = fitting.map(({ durationMs }) => durationMs).toSorted((one, other) => one - other);
      if (drawn.length === 1)
        assert.equal(drawn[0]?.p95Ms, slowest[slowest.length - 1 - Math.floor(slowest.length * 0.05)]);
      const grouped = failures({ filter, limit: 50 });
      assert.deepEqual(
        Object.fromEntries(grouped.map(({ message, requests: count }) => [message, count])),
        countBy(fitting.filter(failed).map(({ fault }) => (fault ? `${fault.kind}: ${fault.message}` : ''))),
      );
      const sums = clientModels(filter);
      assert.equal(
        sums.reduce((sum, one) => sum + one.cost, 0),
        fitting.reduce((sum, { cost = 0 }) => sum + cost, 0),
      );
      assert.equal(
        sums.reduce((sum, one) => sum + one.tokens, 0),
        fitting.reduce((sum, request) => sum + sortedBy.tokens(request), 0),
      );
    });
  });
  fc.assert(property, { numRuns: 100 });
  t.pass();
});

test('sessions come by page, the newest first, and filters act before the limit', (t) => {
  const property = fc.property(
    ...([
      someRequests,
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      fc.constantFrom('', 'BASH', 's1', 'two', 'title'),
    ] as const),
    (requests, least, onlyFailed, text) => {
      const titled = text === 'title' ? ['s3'] : [];
      const ids = [...new Set(requests.flatMap(({ session }) => session ?? []))];
      const of = (id: string) => requests.filter(({ session }) => session === id);
      const fits = (id: string): boolean =>
        (!onlyFailed || of(id).some(failed)) &&
        (titled.includes(id) ||
          [id, ...of(id).flatMap(({ client = '', model = '', tools = [] }) => [client, model, ...tools])].some((word) =>
            word.toLowerCase().includes(text.toLowerCase()),
          ));
      const last = (id: string): number => Math.max(...of(id).map(({ endedAt }) => endedAt));
      const expected = ids.filter(fits);
      asked(requests, ({ sessions }) => {
        const found: string[] = [];
        let before: string | undefined;
        do {
          const query = { filter: {}, least, failed: onlyFailed, text, titled, limit: 1, before };
          const answer = sessions(query);
          assert.equal(answer.single, expected.filter((id) => of(id).length === 1).length);
          for (const id of answer.ids)
            assert.equal(answer.parts.filter(({ session }) => session === id).length, of(id).length);
          found.push(...answer.ids);
          before = answer.next;
        } while (before !== undefined);
        assert.deepEqual(found.toSorted(), expected.filter((id) => of(id).length >= least).toSorted());
        assert.deepEqual(
          found.map(last),
          found.map(last).toSorted((one, other) => other - one),
        );
      });
    },
  );
  fc.assert(property, { numRuns: 100 });
  t.pass();
});

test('one request is found by its id, and the extent is told', (t) => {
  const [one, two] = [keptRequest('same', 5), keptRequest('same', 9, { asked: 'later' })];
  asked([one, two], ({ find, extent }) => {
    t.deepEqual(JSON.parse(find({ id: 'same' }) ?? ''), two);
    t.deepEqual(JSON.parse(find({ id: 'same', endedAtMs: 5 }) ?? ''), one);
    t.is(find({ id: 'none' }), undefined);
    t.like(extent(null), { requests: 2, fromMs: 5, toMs: 9 });
  });
  asked([], ({ extent, page, facets }) => {
    t.deepEqual(extent(null), { requests: 0, bytes: 0, fromMs: undefined, toMs: undefined });
    t.deepEqual(page({ filter: {}, sort: 'time', limit: 1 }), { lines: [], next: undefined });
    t.is(facets({}).requests, 0);
  });
});
