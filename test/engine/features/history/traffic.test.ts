import test from 'ava';
import fc from 'fast-check';
import { routeTrafficOf, Traffic, trafficOf } from '../../../../engine/features/history/traffic.ts';
import type { Activity, RequestDetail, RequestList } from '../../../../engine/features/record/schema.ts';
import { startGateway } from '../../../support/gateway.ts';
import { until } from '../../../support/until.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

const nowMs = 1_800_000_000_000;
const line = { protocol: 'chat', provider: 'p', model: 'm' } as const;

test('rates and steps count every request, far beyond the summaries that are kept', (t) => {
  const traffic = new Traffic();
  // 300 a second, over 20 seconds; every tenth fails.
  for (let n = 0; n < 6_000; n += 1) {
    const atMs = nowMs - 20_000 + n / 0.3;
    traffic.began(atMs, n % 2 ? 'chat' : 'messages', 'p', 'm');
    const route = { protocol: n % 2 ? 'chat' : 'messages', provider: 'p', model: 'm' } as const;
    traffic.ended(atMs + 50, n % 10 === 0, 100, route);
  }
  const lines = routeTrafficOf(traffic.routeMinutes(nowMs, 60), nowMs, 60);
  t.deepEqual(
    lines.map(({ protocol, began, failed }) => [protocol, ...[began, failed].map((row) => row.slice(-2))]),
    [
      ['messages', [3_000, 0], [599, 1]],
      ['chat', [3_000, 0], [0, 0]],
    ],
  );
  t.deepEqual(routeTrafficOf(traffic.routeMinutes(nowMs + 3_600_000, 60), nowMs + 3_600_000, 60), []);
  const perSecond = traffic.recent(nowMs, 'chat', 'p', 'm') / 10;
  t.true(perSecond > 130 && perSecond <= 150, `${perSecond}`);
  t.is(traffic.recent(nowMs + 60_000, 'chat', 'p', 'm'), 0);
  t.is(traffic.recent(nowMs, 'responses', 'p', 'm'), 0);
  const { stepMs, steps } = trafficOf([traffic.counts(nowMs, 1)], nowMs, 1);
  t.deepEqual([stepMs, steps.length], [5_000, 12]);
  t.deepEqual(
    steps.slice(8, 11).map(({ began, failed }) => [began, failed]),
    [
      [1_500, 150],
      [1_500, 150],
      [1_500, 150],
    ],
  );
  t.is(steps[0]?.began, 0);
  t.is(steps[0]?.firstByteP50Ms, undefined);
  t.deepEqual(traffic.lastHour(nowMs + 5_000), { ended: 6_000, failed: 600 });
  const { firstByteP50Ms = 0, firstByteP95Ms = 0 } = steps[9] ?? {};
  t.true(firstByteP50Ms > 70 && firstByteP50Ms < 180 && firstByteP95Ms >= firstByteP50Ms, `${firstByteP50Ms}`);
});

test('an hour is kept, and no more', (t) => {
  const traffic = new Traffic();
  for (let minute = 0; minute < 180; minute += 1) traffic.ended(nowMs + minute * 60_000, false, undefined);
  const endMs = nowMs + 179 * 60_000;
  const { steps } = trafficOf([traffic.counts(endMs, 60)], endMs, 60);
  t.is(steps.length, 720);
  t.deepEqual(traffic.lastHour(endMs), { ended: 60, failed: 0 });
  t.is(
    steps.reduce((sum, { ended }) => sum + ended, 0),
    60,
  );
});

test('the traffic of several processes is the traffic of one that served all of it', (t) => {
  const request = fc.record({
    agoMs: fc.nat(599_000),
    failed: fc.boolean(),
    firstByteMs: fc.option(fc.nat(2_000_000)),
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(2), request), { maxLength: 50 }), (requests) => {
      const all = new Traffic();
      const parts = [new Traffic(), new Traffic(), new Traffic()];
      for (const [at, { agoMs, failed, firstByteMs }] of requests) {
        for (const traffic of [all, parts[at]]) {
          traffic?.began(nowMs - agoMs, 'chat', 'p', 'm');
          traffic?.ended(nowMs - agoMs, failed, firstByteMs ?? undefined, line);
        }
      }
      const minutesOf = (some: readonly Traffic[]) =>
        routeTrafficOf(
          some.flatMap((part) => part.routeMinutes(nowMs, 10)),
          nowMs,
          10,
        );
      t.deepEqual(minutesOf(parts), minutesOf([all]));
      t.deepEqual(
        trafficOf(
          parts.map((part) => part.counts(nowMs, 10)),
          nowMs,
          10,
        ),
        trafficOf([all.counts(nowMs, 10)], nowMs, 10),
      );
    }),
    { numRuns: 50 },
  );
});

test('a retried success is no failure, and its wait no overhead; a broken stream is a failure', async (t) => {
  let calls = 0;
  const upstream = await startUpstream(({ text }) => {
    if (text.includes('cut')) return sseAnswer([...chatStream(['One ', 'two'])].slice(0, 2), 'reset');
    calls += 1;
    return calls === 1 ? jsonAnswer({ error: { message: 'later' } }, 503) : jsonAnswer(chatReply('Hello.'));
  });
  t.teardown(upstream.close);
  const gateway = await startGateway({
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }],
    Router: { default: 'p,m' },
  });
  t.teardown(gateway.stop);
  const ask = async (id: string, content: string, stream: boolean): Promise<void> => {
    const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-request-id': id, 'x-junctor-capture': '1' },
      body: JSON.stringify({ model: 'any', stream, messages: [{ role: 'user', content }] }),
    });
    t.is(answer.status, 200);
    await answer.text().catch(() => '');
  };
  const get = async <T>(path: string): Promise<T> => (await (await fetch(gateway.baseUrl + path)).json()) as T;
  await ask('retried', 'hi', false);
  await ask('broken', 'cut', true);
  let list: RequestList['requests'] = [];
  await until(async () => {
    list = (await get<RequestList>('/api/requests')).requests;
    return list.length === 2;
  });
  const [broken, retried] = list;
  t.is(retried?.fault, undefined);
  t.is(retried?.failedAttempts?.length, 1);
  t.is(broken?.status, 200);
  t.truthy(broken?.fault);
  const { lines, traffic } = await get<Activity>('/api/activity?minutes=10');
  t.like(lines[0], { requests: 2, errors: 1 });
  const sum = (pick: 'began' | 'ended' | 'failed') => traffic?.steps.reduce((all, step) => all + step[pick], 0);
  t.deepEqual([sum('began'), sum('ended'), sum('failed')], [2, 2, 1]);
  t.is((await get<Activity>('/api/activity')).traffic, undefined);
  const total = (row: readonly number[] = []) => row.reduce((all, one) => all + one, 0);
  t.deepEqual([total(traffic?.lines[0]?.began), total(traffic?.lines[0]?.failed)], [2, 1]);
  const { capture } = await get<RequestDetail>('/api/requests/retried');
  const marks = capture?.timing ?? [];
  t.true(marks.some(({ name }) => name === 'retried'));
  t.deepEqual(
    marks.map(({ atMs }) => atMs),
    marks.map(({ atMs }) => atMs).toSorted((one, other) => one - other),
  );
  const at = (mark: string): number => marks.find(({ name }) => name === mark)?.atMs ?? Number.NaN;
  const { overheadMs = Number.NaN, durationMs = Number.NaN } = retried ?? {};
  t.true(overheadMs < durationMs - (at('retried') - at('called')), 'the wait is not in it');
  t.is((await fetch(`${gateway.baseUrl}/api/activity?minutes=61`)).status, 400);
});
