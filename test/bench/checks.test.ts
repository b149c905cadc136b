import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { conversions } from '../../engine/bench/floors/convert/index.ts';
import { startFloor } from '../../engine/bench/floors/start-floor.ts';
import type { LoadJob, LoadResult, Rhythm } from '../../engine/bench/load/job.ts';
import { runJob } from '../../engine/bench/load/run-job.ts';
import { startLoad } from '../../engine/bench/load/start-load.ts';
import { ForeignLoad } from '../../engine/bench/measure/foreign-load.ts';
import { loadScene } from '../../engine/bench/scenes/load-scene.ts';
import { takeTurns } from '../../engine/bench/scenes/take-turns.ts';
import type { Target } from '../../engine/bench/targets/target.ts';
import { streamedAnswer, type UpstreamPlan, wholeAnswer } from '../../engine/bench/upstream/plan.ts';
import { startUpstream, type Upstream } from '../../engine/bench/upstream/start-upstream.ts';
import { pairNamed, pairs, type Wire } from '../../engine/bench/wire.ts';

/** What a faulty gateway makes of the upstream's body. */
type Fault = (body: string) => string;

/** Works on the stream's records, some of which are deltas. */
const onRecords =
  (change: (records: string[]) => string[]): Fault =>
  (body) =>
    change(body.split('\n\n')).join('\n\n');

const without = (at: number) => onRecords((records) => records.filter((_, index) => index !== at));

const faults: readonly (readonly [title: string, fault: Fault, reason: RegExp])[] = [
  ['drops a delta', without(20), /differs from character/],
  ['drops the last delta', without(50), /differs from character/],
  [
    'swaps two deltas',
    onRecords((records) => [...records.slice(0, 20), records[21] ?? '', records[20] ?? '', ...records.slice(22)]),
    /differs from character/,
  ],
  [
    'repeats a delta',
    onRecords((records) => [...records.slice(0, 20), records[20] ?? '', ...records.slice(20)]),
    /differs from character/,
  ],
  ['truncates amid a record', (body) => body.slice(0, 4_000), /ends amid a record/],
  ['truncates after a record', onRecords((records) => [...records.slice(0, 30), '']), /last record/],
  ['leaves the last word out', (body) => body.replace('data: [DONE]\n\n', ''), /last record/],
  ['halves a character', (body) => body.replace('Å', 'Ã…'), /differs from character/],
  ['decodes an escape twice', (body) => body.replace(/\\\\/, '\\u005c\\u005c'), /differs from character/],
];

const plan = streamedAnswer({ deltas: 50, deltaChars: 30 });
const once: Rhythm = { type: 'closed', clients: 1, forMs: 1, most: 1 };

const job = (baseUrl: string, more: Partial<LoadJob> & { readonly wire?: Wire } = {}): LoadJob => {
  const { wire = 'chat', ...rest } = more;
  return { place: { baseUrl, wire, headers: {} }, rhythm: once, bodyBytes: 1_400, streamed: true, text: plan, ...rest };
};

let upstream: Upstream;
test.before(async () => {
  upstream = await startUpstream();
});
test.after.always(() => upstream?.stop());

/** A gateway that asks the upstream and gives its answer on, changed. */
const faulty = async (change: Fault, status = 200, delayMs = 0): Promise<{ baseUrl: string; server: Server }> => {
  const server = createServer(async (request, response) => {
    const body: Buffer[] = [];
    for await (const chunk of request) body.push(chunk);
    const answer = await fetch(`${upstream.baseUrl}${request.url}`, { method: 'POST', body: Buffer.concat(body) });
    const text = change(await answer.text());
    await wait(delayMs);
    response.writeHead(status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The border to Node's declarations: an address of TCP is never a string.
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, server };
};

const through = async (fault: Fault, more: Partial<LoadJob> = {}, status = 200, delayMs = 0): Promise<LoadResult> => {
  const { baseUrl, server } = await faulty(fault, status, delayMs);
  try {
    return await runJob(job(baseUrl, more));
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

test.serial('a gateway that gives everything on is found right', async (t) => {
  await upstream.plan(plan);
  const { good, bad, reasons } = await through((body) => body);
  t.deepEqual({ good, bad, reasons }, { good: 1, bad: 0, reasons: [] });
});

test.serial('a gateway that does anything to the text is caught', async (t) => {
  await upstream.plan(plan);
  for (const [title, fault, reason] of faults) {
    const { good, bad, reasons } = await through(fault);
    t.deepEqual({ good, bad }, { good: 0, bad: 1 }, title);
    t.regex(reasons[0] ?? '', reason, title);
  }
});

test.serial('a whole answer is compared too, and another status is none', async (t) => {
  await upstream.plan(wholeAnswer);
  const whole = { streamed: false, text: wholeAnswer };
  t.is((await through((body) => body, whole)).good, 1);
  t.regex((await through((body) => body.replace('lamp', 'lamb'), whole)).reasons[0] ?? '', /differs/);
  t.regex((await through((body) => body, whole, 500)).reasons[0] ?? '', /^status 500/);
  t.regex((await through(() => 'no JSON', whole)).reasons[0] ?? '', /isn’t JSON/);
});

test.serial('an absent gateway is a failure', async (t) => {
  const { baseUrl, server } = await faulty((body) => body);
  server.close();
  const { good, bad, reasons } = await runJob(job(baseUrl));
  t.is(good, 0);
  t.true(bad > 0);
  t.regex(reasons[0] ?? '', /ECONNREFUSED/);
});

test.serial(
  'the open loop keeps its pace before a slow gateway, and counts from the time that was meant',
  async (t) => {
    await upstream.plan(wholeAnswer);
    const { baseUrl, server } = await faulty((body) => body, 200, 400);
    let inFlight = 0;
    let mostInFlight = 0;
    server.on('request', (_request, response) => {
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      response.once('close', () => {
        inFlight -= 1;
      });
    });
    const rhythm = { type: 'open', perSecond: 100, forMs: 500 } as const;
    const { good, seconds, latency } = await runJob(job(baseUrl, { rhythm, streamed: false, text: wholeAnswer }));
    server.closeAllConnections();
    server.close();
    t.is(good, 50);
    t.true(seconds >= 0.89, `${seconds} s`);
    t.true(mostInFlight > 1, 'they don’t follow one another');
    t.true(latency.p50 >= 395, `${latency.p50} ms`);
  },
);

test.serial('what a gateway holds back shows in the delay of the deltas', async (t) => {
  const stamped = streamedAnswer({ deltas: 10, intervalMs: 20, stamped: true });
  await upstream.plan(stamped);
  const straight = await runJob(job(upstream.baseUrl, { text: stamped }));
  // It gathers the whole stream, and waits.
  const held = await through((body) => body, { text: stamped }, 200, 400);
  t.deepEqual([straight.bad, held.bad], [0, 0]);
  const [straightMs = 0, heldMs = 0] = [straight.delay?.p50, held.delay?.p50];
  t.true(heldMs >= 399 && heldMs <= held.latency.max, `${heldMs} ms`);
  // Half of the deltas are sent after 100 ms or more, and the time before doesn't count.
  t.true(straightMs > 0 && straightMs <= straight.latency.max - 99, `${straightMs} ms`);
});

test.serial(
  'a scene shows the gateway that loses a delta, and the one that doesn’t start, beside a floor that is right',
  async (t) => {
    const load = startLoad();
    const { baseUrl, server } = await faulty(without(20));
    const targets: readonly Target[] = [
      { name: 'lossy', start: async () => ({ pid: process.pid, baseUrl, stop: async () => {} }) },
      { name: 'absent', start: () => Promise.reject(new Error('it speaks no chat')) },
    ];
    const scene = loadScene({
      name: 'small',
      groups: [],
      about: '',
      unit: 'delta',
      plan: () => plan,
      bodyBytes: 1_400,
      rhythm: () => once,
      warmUp: [],
      rounds: { full: 1, brief: 1, quick: 1 },
      fullPairs: [],
    });
    try {
      const settings = { pairs: [pairs[1]], targets, quick: false };
      const rows = await scene.run({
        settings,
        upstream,
        load,
        foreign: new ForeignLoad(),
        hasProcessorTime: true,
        progress: () => {},
      });
      const warm = rows.filter((row) => row.scene === 'small');
      const failed = Object.fromEntries(warm.map((row) => [row.participant, row.failed]));
      t.regex(failed.lossy ?? '', /^1 wrong: the text differs from character/);
      t.is(failed.absent, 'it speaks no chat');
      t.deepEqual(
        warm.filter((row) => row.failed === undefined).map(({ participant }) => participant),
        ['converted', 'bytes', 'direct'],
      );
      t.true(warm.find(({ participant }) => participant === 'bytes')?.perSecond !== 0);
      const cold = rows.filter((row) => row.scene === 'small, cold');
      t.deepEqual(
        cold.map(({ participant, failed: fault }) => [participant, fault]),
        [
          ['converted', undefined],
          ['bytes', undefined],
        ],
      );
    } finally {
      load.stop();
      server.closeAllConnections();
      server.close();
    }
  },
);

test.serial(
  'participants warm up and do their rounds in turns, there and back; a wrong answer ends theirs',
  async (t) => {
    const asked: string[] = [];
    const spread = { p50: 1, p99: 1, max: 1 };
    const run = async ({ place: { baseUrl } }: LoadJob): Promise<LoadResult> => {
      asked.push(baseUrl);
      const isWrong = baseUrl === 'c' && asked.filter((name) => name === 'c').length === 2;
      const counts = { good: isWrong ? 0 : 10, bad: isWrong ? 1 : 0, reasons: ['it differs'] };
      const times = { latency: spread, firstByte: spread, firstToken: spread };
      return { ...counts, ...times, seconds: 1, delay: undefined, betweenTokens: undefined, cpuMs: 1 };
    };
    const settings = { pairs: [pairs[1]], targets: [], quick: false };
    const kept = { ...upstream, keepNext: async () => async () => 'New turn 0: ' };
    const stage = {
      settings,
      upstream: kept,
      load: { run, stop: () => {} },
      foreign: new ForeignLoad(),
      hasProcessorTime: true,
      progress: () => {},
    };
    const participants = ['a', 'b', 'c', 'direct'].map((name) => ({
      name,
      place: { baseUrl: name, wire: 'chat', headers: {} } as const,
      pid: name === 'direct' ? undefined : process.pid,
      stop: async () => {},
    }));
    const rounds = { plan: wholeAnswer, bodyBytes: 9, rhythm: once, coldRhythm: once, rounds: 3 };
    const done = await takeTurns(stage, participants, { ...rounds, warmUp: [{ rhythm: once }], warmUpMs: 1 });
    t.is(asked.join(' '), 'a b c direct a b c a b direct b a a b');
    t.is(done.get('c'), '1 wrong: it differs');
    // Time was up after one round.
    t.like(done.get('a'), { isWarm: false, rounds: { length: 3 }, cold: { result: { good: 10 } } });
    t.like(done.get('direct'), { isWarm: true, rounds: { length: 1 }, cold: undefined });
  },
);

/** Several requests, so that one connection has one after the other, with a message that needs a long frame. */
const overSocket = async (t: ExecutionContext, baseUrl: string, text: UpstreamPlan): Promise<void> => {
  const place = { baseUrl, wire: 'responses', headers: {}, webSocket: true } as const;
  const rhythm = { type: 'closed', clients: 2, forMs: 30_000, most: 6 } as const;
  const { good, reasons, delay } = await runJob({ place, rhythm, bodyBytes: 70_000, streamed: true, text });
  t.deepEqual([good, ...reasons], [6], 'over WebSocket');
  t.is(delay === undefined, !text.stamped);
};

test.serial('a server that refuses the handshake is found', async (t) => {
  await upstream.plan(plan);
  const { baseUrl, server } = await faulty((body) => body);
  const place = { baseUrl, wire: 'responses', headers: {}, webSocket: true } as const;
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 404 Not Found\r\n\r\n'));
  try {
    const { good, reasons } = await runJob({ ...job(baseUrl), place });
    t.deepEqual([good, ...reasons], [0, 'the WebSocket handshake was answered with 404']);
  } finally {
    server.close();
  }
});

test.serial('every floor converts its pair rightly, streamed, cut anywhere, and whole', async (t) => {
  const written = [...conversions.keys()].map(pairNamed);
  const floors = await Promise.all(written.map(({ name }) => startFloor(upstream.baseUrl, name)));
  const bytes = await startFloor(upstream.baseUrl);
  const stamped = streamedAnswer({ deltas: 5, intervalMs: 5, stamped: true });
  try {
    for (const next of [plan, streamedAnswer({ deltas: 50, cuts: 'odd' }), stamped, wholeAnswer]) {
      await upstream.plan(next);
      const { streamed } = next;
      for (const [at, { name, client, upstream: behind }] of written.entries()) {
        const kept = await upstream.keepNext();
        const baseUrl = floors[at]?.baseUrl ?? '';
        const result = await runJob(job(baseUrl, { wire: client, streamed, text: next, bodyBytes: 60_000 }));
        t.deepEqual([result.good, ...result.reasons], [1], name);
        const body = await kept();
        t.true(body.includes('New turn 0: '), `${name}: the last turn arrived`);
        t.true(body.length > 50_000 && body.length < 80_000, `${name}: all turns arrived (${body.length})`);
        const direct = await runJob(job(upstream.baseUrl, { wire: behind, streamed, text: next }));
        t.deepEqual([direct.good, ...direct.reasons], [1], `${behind} upstream`);
        if (client === 'responses' && streamed) await overSocket(t, baseUrl, next);
        // The bytes of other formats aren't a Responses client's messages.
        if (client === 'responses' && behind === client && streamed) await overSocket(t, bytes.baseUrl, next);
      }
      const result = await runJob(job(bytes.baseUrl, { streamed, text: next }));
      t.deepEqual([result.good, ...result.reasons], [1], 'bytes alone');
    }
  } finally {
    await Promise.all([...floors, bytes].map(({ stop }) => stop()));
  }
});
