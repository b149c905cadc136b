import test, { type ExecutionContext } from 'ava';
import { telemetrySettings } from '../../../../engine/config/sections/telemetry.ts';
import type { ExporterClock } from '../../../../engine/features/telemetry/exporter.ts';
import { openTelemetry } from '../../../../engine/features/telemetry/telemetry.ts';
import { createUpstreams } from '../../../../engine/upstream/create-upstreams.ts';
import { until } from '../../../support/until.ts';
import type { Script } from '../../../support/upstreams/upstream.ts';
import { startCollector } from './collector.ts';

const batchMs = 5_000;
const metricsMs = 60_000;
const saidMs = 600_000;

/** Telemetry whose time the test moves, before a collector that does what the script says. */
const open = async (t: ExecutionContext, script: Script) => {
  const collector = await startCollector(t, script);
  const settings = telemetrySettings(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/base/` }, t.fail);
  if (!settings) throw new Error('There are no settings.');
  const timers = new Map<symbol, { readonly task: () => void; readonly ms: number }>();
  const time = { ms: 0 };
  const clock: ExporterClock = {
    nowMs: () => time.ms,
    random: () => 1,
    later(task, ms) {
      const id = Symbol(String(ms));
      timers.set(id, { task, ms });
      return () => timers.delete(id);
    },
  };
  const lines: string[] = [];
  const telemetry = openTelemetry({
    settings,
    clock,
    version: '1.2.3',
    upstreams: createUpstreams({
      connectMs: 5_000,
      firstByteMs: 60_000,
      idleMs: 60_000,
      callMs: 0,
      connectionsPerProvider: 2,
      queuePerProvider: 2,
      queueMs: 5_000,
      decompressedReplyBytes: 1 << 20,
      environment: {},
    }),
    log: { info: (line) => lines.push(`info: ${line}`), warn: (line) => lines.push(`warn: ${line}`) },
  });
  const fire = (ms: number): void => {
    for (const [id, timer] of [...timers]) {
      if (timer.ms !== ms) continue;
      timers.delete(id);
      timer.task();
    }
  };
  const request = { id: 'r', method: 'POST', route: '/v1/messages', preset: undefined, namedClient: 'team' };
  /** A request, and the end of its batch. */
  const batch = async () => {
    const { spansSent, spansDropped } = telemetry.figures();
    telemetry.started({ ...request, startedAtMs: 1_700_000_000_000 }, () => undefined).finished?.(200);
    fire(batchMs);
    await until(() => telemetry.figures().spansSent + telemetry.figures().spansDropped > spansSent + spansDropped);
  };
  return { telemetry, collector, lines, fire, batch, time, waits: () => [...timers.values()].map(({ ms }) => ms) };
};

test('a collector that refuses is said once, and again when it takes telemetry; both are counted', async (t) => {
  const answer = { status: 400 };
  const { telemetry, lines, batch, time } = await open(t, () => answer);
  for (let n = 0; n < 3; n += 1) await batch();
  const refused = 'warn: telemetry is dropped, requests go on: the collector answers with status 400';
  t.deepEqual(lines, [refused]);
  answer.status = 200;
  for (let n = 0; n < 2; n += 1) await batch();
  const taken = 'info: the collector takes telemetry again';
  t.deepEqual(lines, [refused, taken]);
  t.like(telemetry.figures(), { spansSent: 2, spansDropped: 3 });
  // One that comes and goes isn't said each time.
  answer.status = 400;
  await batch();
  t.deepEqual(lines, [refused, taken]);
  time.ms += saidMs;
  await batch();
  t.deepEqual(lines, [refused, taken, refused]);
  await telemetry.stop();
});

test('metrics go out each minute, and with the spans that wait at a stop', async (t) => {
  const { telemetry, collector, fire, batch, waits } = await open(t, () => ({ pieces: ['{}'] }));
  await batch();
  fire(metricsMs);
  await until(() => telemetry.figures().metricsSent === 1);
  t.deepEqual(waits(), [metricsMs]);
  telemetry
    .started(
      { id: 'r', method: 'POST', route: '/x', preset: 'p', namedClient: undefined, startedAtMs: 1 },
      () => undefined,
    )
    .finished?.(500);
  await telemetry.stop();
  t.deepEqual(waits(), []);
  t.like(telemetry.figures(), { spansSent: 2, spansDropped: 0, metricsSent: 2, metricsDropped: 0 });
  t.deepEqual(
    collector.requests.map(({ url }) => url).filter((url) => !/^\/base\/v1\/(?:traces|metrics)$/.test(url)),
    [],
  );
});

test('a stop waits a second for a collector that never answers', async (t) => {
  const { telemetry, collector, fire, waits } = await open(t, () => 'never');
  telemetry
    .started(
      { id: 'r', method: 'POST', route: '/x', preset: undefined, namedClient: undefined, startedAtMs: 1 },
      () => undefined,
    )
    .finished?.(200);
  const stopped = telemetry.stop();
  await until(() => collector.requests.length === 2);
  t.true(waits().includes(1_000));
  fire(1_000);
  await stopped;
  t.like(telemetry.figures(), { spansSent: 0, metricsSent: 0 });
});
