import { once } from 'node:events';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { Agent, request } from 'undici';
import { readCpu } from '../../engine/bench/measure/process-tree.ts';
import { errorCode } from '../../engine/model/fault.ts';
import { readPidFile } from '../../engine/service/workers/pid-file.ts';
import { startFaultyUpstreams, startLoad } from '../soak/load.ts';
import { gatewayProcess } from '../support/faults/gateway-process.ts';
import { rawPost } from '../support/faults/raw-client.ts';
import { providersAt, wires } from '../support/faults/wires.ts';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { jsonAnswer, type Piece, sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';

const ask = { model: 'chat,m', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'x' }] };

/** A chat stream that takes about two seconds behind its first word. */
const slow = function* (): Iterable<Piece> {
  const records = wires.chat.stream(['one ', 'two ', 'three ', 'four']);
  for (const record of records) {
    yield record;
    yield 300;
  }
};

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`R9 ${signal}: immediately unhealthy, no new requests, 40 streams finish, exit code 0`, async (t) => {
    const upstream = await startUpstream(() => sseAnswer(slow()));
    t.teardown(() => upstream.close());
    const { baseUrl, running } = await gatewayProcess(t, { LOG: false, ...providersAt(() => upstream.url) });
    const kept = new Agent({ connections: 1, keepAliveTimeout: 60_000 });
    t.teardown(() => kept.destroy());
    const health = async (): Promise<number> => {
      const answer = await request(`${baseUrl}/health`, { dispatcher: kept });
      await answer.body.dump();
      return answer.statusCode;
    };
    t.is(await health(), 200);
    const clients = Array.from({ length: 40 }, () => rawPost(baseUrl, '/v1/messages', ask));
    await Promise.all(clients.map((client) => client.says('one ')));
    running.child.kill(signal);
    let status = 200;
    await until(async () => {
      status = await health();
      return status !== 200;
    });
    t.is(status, 503);
    // The port closes next; until then, a new connection gets 503.
    await until(async () => {
      const answer = await request(`${baseUrl}/health`).catch((error: unknown) => errorCode(error));
      if (answer === 'ECONNREFUSED') return true;
      if (typeof answer === 'object') await answer.body.dump();
      return false;
    });
    await Promise.all(clients.map((client) => client.says('event: message_stop')));
    t.true(clients.every((client) => !client.text().includes('event: error')));
    for (const client of clients) client.leave();
    t.is((await running.ended).code, 0);
  });
}

test('R9 a second signal stops it at once', async (t) => {
  const upstream = await startUpstream(() => sseAnswer(wires.chat.stream(['one ']).slice(0, 2), 'stall'));
  t.teardown(() => upstream.close());
  const { baseUrl, running, home } = await gatewayProcess(t, { LOG: false, ...providersAt(() => upstream.url) });
  const client = rawPost(baseUrl, '/v1/messages', ask);
  await client.says('one ');
  running.child.kill('SIGTERM');
  // Two signals of which none was handled yet are one.
  await until(() => readPidFile(home)?.state === 'stopping');
  t.is(running.child.exitCode, null, 'it waits for its stream');
  // Not its output's end: the build of the web interface, which it may have begun, has that open too.
  const gone = once(running.child, 'exit');
  running.child.kill('SIGTERM');
  await gone;
  t.is(upstream.requests.length, 1, 'its stream never ended');
});

test('R12 P4 a full disk and no place for the log folder: no request fails; headers of any kind do no harm', async (t) => {
  const upstream = await startUpstream(() => ({
    ...jsonAnswer(wires.chat.reply('fine')),
    headers: { 'content-type': 'application/json', 'x-odd': Buffer.from('gr\u00fc\u00dfe').toString('latin1') },
  }));
  // A file where the folder should be, as on a disk that has no room for one.
  const gateway = await startGateway(
    providersAt(() => upstream.url),
    {},
    { files: { logs: 'in the way' } },
  );
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  await symlink('/dev/full', join(gateway.home, 'app.log')).catch(() => {});
  for (let count = 0; count < 100; count += 1) {
    const answer = await request(`${gateway.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'user-agent': 'gr\u00fc\u00dfe', 'x-request-id': `id-${count}` },
      body: JSON.stringify({ ...ask, stream: false }),
    });
    t.is(answer.statusCode, 200, await answer.body.text());
  }
  await wait(1_500);
  t.log(gateway.reports.join('\n'));
  t.true(gateway.reports.filter((line) => line.includes('logs')).length <= 1);
});

test('R14 P1 P5 clients that leave and upstreams that fail take nothing from the streams beside them', async (t) => {
  const upstreams = await startFaultyUpstreams();
  const { baseUrl, running } = await gatewayProcess(t, {
    RETRY: { attempts: 0 },
    BREAKER: { faults: 1_000_000 },
    ...providersAt((wire) => upstreams[wire].url),
  });
  const load = startLoad(baseUrl, 60);
  await until(() => load.tallies.whole > 60 && load.tallies.left > 5 && load.tallies.faulted > 5);
  await load.end();
  t.deepEqual(load.tallies.wrong, []);
  t.is(running.child.exitCode, null);
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.close()));
});

test.serial('P2 a request costs no more among 500 than among 20', async (t) => {
  const upstream = await startUpstream(async () => {
    await wait(200);
    return jsonAnswer(wires.chat.reply('fine'));
  });
  t.teardown(() => upstream.close());
  const { baseUrl, pid } = await gatewayProcess(t, { LOG: false, ...providersAt(() => upstream.url) });
  const many = new Agent({ connections: 500 });
  t.teardown(() => many.destroy());
  const costMs = async (atOnce: number, rounds: number): Promise<number> => {
    const from = readCpu(pid).coarseMs;
    for (let round = 0; round < rounds; round += 1) {
      const statuses = await Promise.all(
        Array.from({ length: atOnce }, async () => {
          const body = JSON.stringify({ ...ask, stream: false });
          const answer = await request(`${baseUrl}/v1/messages`, { dispatcher: many, method: 'POST', body });
          await answer.body.dump();
          return answer.statusCode;
        }),
      );
      t.true(statuses.every((status) => status === 200));
    }
    return (readCpu(pid).coarseMs - from) / (atOnce * rounds);
  };
  await costMs(500, 1);
  const few = await costMs(20, 10);
  const all = await costMs(500, 1);
  t.log(`${few.toFixed(2)} ms of processor time a request among 20, ${all.toFixed(2)} ms among 500`);
  t.true(all <= few * 2 + 0.5);
});
