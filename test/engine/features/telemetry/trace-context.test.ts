import test from 'ava';
import { newSpanId, readTraceContext, traceHeaders } from '../../../../engine/features/telemetry/trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';

test("the client's trace goes on, with its decision to sample", (t) => {
  for (const [flags, isSampled] of [
    ['00', false],
    ['01', true],
    ['03', true],
    ['02', false],
  ] as const) {
    const context = readTraceContext(`00-${traceId}-${parentId}-${flags}`, 'a=1,b=2', isSampled ? 0 : 1);
    t.deepEqual(context, { traceId, parentId, state: 'a=1,b=2', isSampled });
    t.deepEqual(traceHeaders(context, '1'.repeat(16)), {
      traceparent: `00-${traceId}-${'1'.repeat(16)}-${isSampled ? '01' : '00'}`,
      tracestate: 'a=1,b=2',
    });
  }
  t.is(readTraceContext(`cc-${traceId}-${parentId}-01-more`, undefined, 0).traceId, traceId);
});

for (const [title, traceparent] of [
  ['none', undefined],
  ['an empty one', ''],
  ['version ff', `ff-${traceId}-${parentId}-01`],
  ['version 00 with more', `00-${traceId}-${parentId}-01-x`],
  ['upper case', `00-${traceId.toUpperCase()}-${parentId}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${parentId}-01`],
  ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['two of them', `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`],
] as const) {
  test(`traceparent, ${title}: a trace begins`, (t) => {
    const context = readTraceContext(traceparent, 'a=1', 1);
    t.regex(context.traceId, /^[0-9a-f]{32}$/);
    t.not(context.traceId, traceId);
    t.like(context, { parentId: undefined, state: undefined, isSampled: true });
  });
}

test('tracestate is dropped if it is too long or cannot be sent', (t) => {
  for (const state of ['x'.repeat(513), 'a=\u{1}', '']) {
    t.is(readTraceContext(`00-${traceId}-${parentId}-01`, state, 1).state, undefined);
  }
});

test('the ratio decides over traces that begin here', (t) => {
  const sampled = (ratio: number) =>
    Array.from({ length: 4_000 }, () => readTraceContext(undefined, undefined, ratio)).filter((one) => one.isSampled)
      .length;
  t.is(sampled(0), 0);
  t.is(sampled(1), 4_000);
  // Ten standard deviations from the mean of 1,000.
  t.true(Math.abs(sampled(0.25) - 1_000) < 275);
  t.regex(newSpanId(), /^[0-9a-f]{16}$/);
});
