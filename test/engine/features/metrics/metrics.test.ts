import test, { type ExecutionContext } from 'ava';
import { createMetrics } from '../../../../engine/features/metrics/metrics.ts';
import type { Fault } from '../../../../engine/model/fault.ts';
import { RequestRecords } from '../../../../engine/request-record.ts';
import { messagesClient } from '../../../../protocols/messages/index.ts';
import { responsesClient } from '../../../../protocols/responses/index.ts';
import { recordStarter, routeTo } from '../../../support/request-record.ts';

const provider = { name: 'p', models: ['m'] };
const route = { provider, model: 'm', scenario: 'default' };

/** Counters under a clock that stands still until it is moved. */
const open = (t: ExecutionContext, losses: Parameters<typeof createMetrics>[0] = {}) => {
  const clock = { ms: 1000 };
  const records = new RequestRecords(() => clock.ms);
  const metrics = createMetrics({ active: records.active, ...losses });
  records.listen([metrics.listener]);
  const begin = recordStarter(t, records);
  /** Our own lines, without those of the process. */
  const lines = async (name: string): Promise<readonly string[]> => {
    const { text } = await metrics.scrape();
    return text.split('\n').filter((line) => line.startsWith(`junctor_${name}`));
  };
  return { clock, metrics, lines, begin };
};

test('a streamed answer from start to end', async (t) => {
  const { clock, lines, begin } = open(t);
  const record = begin({ client: messagesClient });
  clock.ms += 3;
  routeTo(record, route);
  record.called();
  clock.ms += 400;
  record.chunk();
  clock.ms += 1;
  record.opened();
  record.firstByte();
  t.deepEqual(await lines('streams_active'), ['junctor_streams_active 1']);
  clock.ms += 2000;
  record.chunk();
  record.counted({ input: 5, cacheRead: 7, cacheWrite: 0, output: 11, reasoning: 3 });
  record.finished(200);
  record.finished(499);

  t.deepEqual(await lines('streams_active'), ['junctor_streams_active 0']);
  t.deepEqual(await lines('requests_total'), [
    'junctor_requests_total{route="messages",provider="p",model="m",scenario="default",status="200"} 1',
  ]);
  t.deepEqual(await lines('client_aborts_total'), []);
  t.deepEqual(await lines('tokens_total'), [
    'junctor_tokens_total{provider="p",type="input"} 5',
    'junctor_tokens_total{provider="p",type="cache_read"} 7',
    'junctor_tokens_total{provider="p",type="output"} 11',
    'junctor_tokens_total{provider="p",type="reasoning"} 3',
  ]);
  const where = '{route="messages",provider="p"}';
  t.true((await lines('request_duration_seconds')).includes(`junctor_request_duration_seconds_sum${where} 2.404`));
  t.true((await lines('time_to_first')).includes(`junctor_time_to_first_token_seconds_sum${where} 0.404`));
  t.true((await lines('overhead')).includes(`junctor_overhead_seconds_sum${where} 0.004`));
});

test('the upstream is to blame for all of an answer that must be whole before it goes out', async (t) => {
  const { clock, lines, begin } = open(t);
  const record = begin();
  routeTo(record, route);
  record.called();
  for (let piece = 0; piece < 5; piece += 1) {
    clock.ms += 100;
    record.chunk();
  }
  clock.ms += 2;
  record.firstByte();
  record.finished(200);
  const [sum] = (await lines('overhead_seconds_sum')) ?? [];
  t.is(sum, 'junctor_overhead_seconds_sum{route="chat",provider="p"} 0.002');
});

test('buckets are cumulative, their bounds inclusive, and the last one holds all', async (t) => {
  const { clock, lines, begin } = open(t);
  for (const ms of [100, 101, 700_000]) {
    const record = begin();
    routeTo(record, route);
    clock.ms += ms;
    record.finished(200);
  }
  const buckets = (await lines('request_duration_seconds_bucket')).map(
    (line) => /le="([^"]+)".* (\d+)$/.exec(line)?.slice(1).join(' ') ?? line,
  );
  t.deepEqual([buckets[0], buckets[1], buckets.at(-2), buckets.at(-1)], ['0.1 1', '0.25 2', '640 2', '+Inf 3']);
  t.is((await lines('request_duration_seconds_count'))[0]?.split(' ').at(-1), '3');
});

test('a request that was never routed, and one whose client went', async (t) => {
  const { lines, begin } = open(t);
  begin().finished(400);
  const gone = begin({ client: responsesClient });
  routeTo(gone, route);
  gone.finished(499);
  t.deepEqual(await lines('requests_total'), [
    'junctor_requests_total{route="chat",provider="none",model="none",scenario="none",status="400"} 1',
    'junctor_requests_total{route="responses",provider="p",model="m",scenario="default",status="499"} 1',
  ]);
  t.deepEqual(await lines('client_aborts_total'), ['junctor_client_aborts_total{route="responses"} 1']);
  t.deepEqual(await lines('time_to_first'), []);
});

test('the gateway’s own faults aren’t upstream errors, and a fault seen twice counts once', async (t) => {
  const { lines, begin } = open(t);
  const record = begin();
  routeTo(record, route);
  const garbled: Fault = { kind: 'upstream-garbled', message: '' };
  record.brokeOff(garbled);
  record.brokeOff(garbled);
  record.brokeOff({ ...garbled });
  record.brokeOff({ kind: 'stage-failed', message: '' });
  record.retried('rate-limit');
  t.deepEqual(await lines('upstream_errors_total'), [
    'junctor_upstream_errors_total{provider="p",kind="upstream-garbled"} 2',
  ]);
  t.deepEqual(await lines('retries_total'), ['junctor_retries_total{provider="p",reason="rate-limit"} 1']);
});

test('models that only clients name are one series', async (t) => {
  const { lines, begin } = open(t);
  for (let count = 0; count < 50; count += 1) {
    const record = begin();
    routeTo(record, { ...route, model: `made-up-${count}` });
    record.finished(404);
  }
  t.deepEqual(await lines('requests_total'), [
    'junctor_requests_total{route="chat",provider="p",model="other",scenario="default",status="404"} 50',
  ]);
});

test('whatever comes as labels, series have a limit', async (t) => {
  let names = 3000;
  const losses = () => Array.from({ length: names }, (_, index) => ({ stage: 's', field: `f${index}`, count: 2 }));
  const { lines } = open(t, { losses });
  const rows = await lines('losses_total');
  t.is(rows.length, 1001);
  t.is(rows.at(-1), 'junctor_losses_total{stage="other",field="other"} 4000');
  names = 1;
  t.deepEqual(await lines('losses_total'), ['junctor_losses_total{stage="s",field="f0"} 2']);
});

test('label values are escaped, and metrics without values keep their heads', async (t) => {
  const { metrics } = open(t, { losses: () => [{ stage: 'a\\b"c', field: 'd\ne', count: 2 }] });
  const { text } = await metrics.scrape();
  t.true(
    text.includes(`# HELP junctor_config_reloads_total Changes of the configuration.
# TYPE junctor_config_reloads_total counter

# HELP junctor_key_refusals_total Requests refused for their key.
# TYPE junctor_key_refusals_total counter

# HELP junctor_losses_total Fields that a conversion could not carry.
# TYPE junctor_losses_total counter
junctor_losses_total{stage="a\\\\b\\"c",field="d\\ne"} 2

# HELP junctor_request_duration_seconds `),
  );
});

test('labels are escaped', async (t) => {
  const { lines, begin } = open(t);
  const record = begin();
  routeTo(record, { ...route, provider: { name: 'a"b\\c\nd', models: ['m'] } });
  record.finished(200);
  t.regex((await lines('requests_total'))[0] ?? '', /provider="a\\"b\\\\c\\nd"/);
});

test('reloads count by result; all metrics are listed from the start, with those of the process', async (t) => {
  const { metrics, lines } = open(t, { losses: () => [] });
  metrics.reloaded('applied');
  metrics.reloaded('invalid');
  metrics.reloaded('applied');
  t.deepEqual(await lines('config_reloads_total'), [
    'junctor_config_reloads_total{result="applied"} 2',
    'junctor_config_reloads_total{result="invalid"} 1',
  ]);
  const { text } = await metrics.scrape();
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  for (const type of [
    'junctor_requests_total counter',
    'junctor_request_duration_seconds histogram',
    'junctor_time_to_first_token_seconds histogram',
    'junctor_overhead_seconds histogram',
    'junctor_event_loop_hold_seconds histogram',
    'junctor_upstream_errors_total counter',
    'junctor_streams_active gauge',
    'junctor_tokens_total counter',
    'junctor_losses_total counter',
    'junctor_retries_total counter',
    'junctor_client_aborts_total counter',
    'junctor_config_reloads_total counter',
    'process_cpu_seconds_total counter',
    'process_start_time_seconds gauge',
    'process_resident_memory_bytes gauge',
    'nodejs_eventloop_lag_p99_seconds gauge',
    'nodejs_active_resources gauge',
    'nodejs_heap_size_used_bytes gauge',
    'nodejs_heap_space_size_used_bytes gauge',
    'nodejs_external_memory_bytes gauge',
    'nodejs_version_info gauge',
    'nodejs_gc_duration_seconds histogram',
  ]) {
    t.true(types.includes(type), type);
  }
  t.true(Number(/^process_resident_memory_bytes (\d+)$/m.exec(text)?.[1]) > 10_000_000);
  t.notRegex(text, /NaN|Infinity/);
  t.is(new Set(types).size, types.length, 'each name is told once');
});

test('two services in one process count apart', async (t) => {
  const [one, two] = [open(t), open(t)];
  one.metrics.reloaded('applied');
  t.is((await one.lines('config_reloads_total')).length, 1);
  t.is((await two.lines('config_reloads_total')).length, 0);
});
