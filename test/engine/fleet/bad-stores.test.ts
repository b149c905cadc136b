import { readFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../../engine/http/bind.ts';
import { joinFleet } from '../../../engine/hub/fleet.ts';
import { isMissing, startRedis } from '../../support/processes/redis.ts';
import { until } from '../../support/until.ts';
import { inProcessFleet, storeRights, untilServed } from './rig.ts';

/** A store that fails: its address. */
type Broken = (t: ExecutionContext) => Promise<string>;

/** A server of ours, which answers whatever comes by these bytes; the first connection is cut if so wanted. */
const scripted =
  (answer: string, more?: Buffer, closed = (): void => undefined, cutsFirst = false): Broken =>
  async (t) => {
    const open = new Set<Socket>();
    let isFirst = cutsFirst;
    const server = createServer((socket) => {
      if (isFirst) {
        isFirst = false;
        socket.resetAndDestroy();
        return;
      }
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        closed();
      });
      const flow = (): void => {
        while (more && !socket.destroyed && socket.write(more));
      };
      socket.on('drain', flow);
      socket.on('data', () => {
        socket.write(answer);
        flow();
      });
    });
    t.teardown(() => {
      server.close();
      for (const socket of open) socket.destroy();
    });
    const port = await freePort('127.0.0.1');
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return `redis://127.0.0.1:${port}`;
  };

/** A Redis with these settings. */
const redis =
  (options: readonly string[], account = ''): Broken =>
  async (t) =>
    `redis://${account}127.0.0.1:${(await startRedis(t, ...options)).port}`;

const holding =
  (...command: string[]): Broken =>
  async (t) => {
    const { url, run } = await startRedis(t);
    await run(...command);
    return url;
  };

const words = storeRights.join(' ');

/** What a gateway says of each. */
const table: readonly (readonly [name: string, broken: Broken, says: RegExp, program?: 'redis-server'])[] = [
  [
    'refuses connections',
    async () => `redis://127.0.0.1:${await freePort('127.0.0.1')}`,
    /refuses connections: start it, or correct its address/,
  ],
  [
    'knows another password',
    redis(['--user', 'sy', 'on', '>right', ...storeRights], 'sy:wrong@'),
    /no such user and password: correct them/,
    'redis-server',
  ],
  [
    'wants a password',
    scripted('-NOAUTH HELLO must be called with the client already authenticated\r\n'),
    /wants a password: add it/,
  ],
  [
    'grants no scripts',
    redis(['--user', 'sy', 'on', '>right', ...words.replace(/ \+eval\b| \+evalsha/g, '').split(' ')], 'sy:right@'),
    /account lacks rights: grant those of docs\/fleet\.md/,
    'redis-server',
  ],
  [
    'is too old',
    scripted('-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n'),
    /too old: Valkey 7\.2 or Redis 6\.0 is needed/,
  ],
  [
    'is a read-only replica',
    async (t) => {
      const { port } = await startRedis(t);
      return (await startRedis(t, '--replicaof', '127.0.0.1', String(port))).url;
    },
    /read-only replica: name the primary/,
    'redis-server',
  ],
  [
    'is full',
    redis(['--maxmemory', '1', '--maxmemory-policy', 'noeviction']),
    /memory is full: raise its maxmemory/,
    'redis-server',
  ],
  [
    'has text where the fleet has a table',
    holding('SET', 'sy:{junctor}:v', 'of another program'),
    /hold something else: choose another name/,
    'redis-server',
  ],
  [
    'has a table of another form',
    holding('HSET', 'sy:{junctor}:v', 'e', 'x'),
    /hold something else: choose another name/,
    'redis-server',
  ],
  [
    'is frozen',
    async (t) => {
      const { url, signal } = await startRedis(t);
      signal('SIGSTOP');
      return url;
    },
    /does not answer within 250 ms: look at its load/,
    'redis-server',
  ],
  ['is a web server', scripted('HTTP/1.1 400 Bad Request\r\n\r\n'), /no Valkey or Redis: correct its address/],
  ['wants TLS and hangs up', scripted('\x15\x03\x03\x00\x02\x02\x46'), /no Valkey or Redis|does not answer/],
  ['answers without an end', scripted('$999999999\r\n', Buffer.alloc(1 << 16, 'x')), /does not answer within 250 ms/],
];

for (const [name, broken, says, program] of table) {
  test(`a store that ${name}: said once, with what to do; requests go on`, async (t) => {
    if (program && isMissing(t, program)) return;
    const { fetchJson, ask, metric, said, home } = await inProcessFleet(t, { store: await broken(t) });
    for (const _ of Array.from({ length: 3 })) t.is(await ask(), 200);
    // Asking the gateways on and on would keep this process, which has all of them, from hearing what the stores say.
    await until(() => said().some((line) => says.test(line)));
    const { store, members } = await fetchJson('/api/fleet');
    t.false(store.up);
    t.deepEqual(members, []);
    t.is(await metric('store_up'), 0);
    t.is(await metric('limits_by_share_total'), 3);
    t.is(await ask(), 200);
    const fails = said().filter((line) => line.includes('FLEET.store fails'));
    // A busy machine may be too slow for the first answer: then that is said before.
    t.true(fails.length === 1 || (fails.length === 2 && /does not answer/.test(fails[0] ?? '')), fails.join('\n'));
    t.regex(fails.at(-1) ?? '', says);
    await until(async () => (await readFile(join(home, 'app.log'), 'utf8')).includes('FLEET.store fails'));
    const log = await readFile(join(home, 'app.log'), 'utf8');
    t.is(log.split('FLEET.store fails').length, 2);
  });
}

test('an answer without an end is not read on: its connection is closed', async (t) => {
  let closed = 0;
  const endless = scripted('$999999999\r\n', Buffer.alloc(1 << 16, 'x'), () => {
    closed += 1;
  });
  await inProcessFleet(t, { store: await endless(t) });
  await until(() => closed >= 2);
  t.pass();
});

test('an answer without an end is not read on after another failure either', async (t) => {
  let closed = 0;
  const count = (): void => {
    closed += 1;
  };
  const cut = scripted('$999999999\r\n', Buffer.alloc(1 << 16, 'x'), count, true);
  const { said } = await inProcessFleet(t, { store: await cut(t) });
  await until(() => closed >= 2 && said().length > 0);
  t.pass();
});

test('another fleet of the same name, with another key, is said; neither reads what the other keeps', async (t) => {
  if (isMissing(t, 'redis-server')) return;
  const { url } = await startRedis(t);
  const [one, two] = await Promise.all(
    ['01', '02'].map((digits) => inProcessFleet(t, { store: url, key: digits.repeat(32) })),
  );
  if (!one || !two) return t.fail();
  await until(async () => (await one.metric('fleet_strangers')) === 1 && (await two.metric('fleet_strangers')) === 1);
  const { members } = await one.fetchJson('/api/fleet');
  t.deepEqual(
    members.map(({ isThis, isStranger }: { isThis: boolean; isStranger: boolean }) => isThis !== isStranger),
    [true, true],
  );
  await untilServed(one);
  await until(async () => (await one.log()).includes('another fleet uses this FLEET.name'));
});

test('another fleet is said once for as long as it is there', async (t) => {
  const about = {
    machine: 'm',
    pid: 1,
    version: '1',
    config: 'c',
    configSeconds: 1,
    address: '',
    streams: 0,
    key: 'other',
  };
  const stranger = { member: 'stranger', about: JSON.stringify(about) };
  let members = [stranger];
  const said: string[] = [];
  const { hub } = joinFleet(
    {
      exchange: () => Promise.resolve({ ...emptyPull, members }),
      putBlob: () => undefined,
      readBlobs: () => Promise.resolve([]),
    },
    {
      workers: 1,
      fleet: {
        urls: [],
        primary: undefined,
        ca: undefined,
        name: 'junctor',
        keys: [Buffer.alloc(32, 1)],
        address: undefined,
        replicas: 1,
        withoutStore: 'share',
      },
    },
    { warn: (line) => said.push(line), info: (line) => said.push(line) },
  );
  t.teardown(() => hub.stop());
  for (const present of [true, true, true, false, true]) {
    members = present ? [stranger] : [];
    await hub.tick();
  }
  t.is(said.length, 2, said.join('\n'));
  for (const line of said) t.regex(line, /another fleet uses this FLEET\.name with another FLEET\.key \(m\)/);
});

const emptyPull = { epoch: 'e', version: 0, facts: [], applied: 0, totals: [], windows: [], holds: [] };

test('a clock that is off changes no limit, and is said once', async (t) => {
  if (isMissing(t, 'redis-server')) return;
  const { url } = await startRedis(t);
  const here = await inProcessFleet(t, { store: url }, () => Date.now() + 90_000);
  await until(async () => (await here.metric('store_clock_seconds')) > 60);
  await untilServed(here);
  await until(async () => (await here.log()).includes("clock is far ahead of the store's"));
  t.is((await here.log()).split("clock is far ahead of the store's").length, 2);
  const right = await inProcessFleet(t, { store: url });
  await until(async () => (await right.fetchJson('/api/fleet')).members.length === 2);
  t.true(Math.abs(await right.metric('store_clock_seconds')) < 30);
  t.false((await right.log()).includes('clock'));
});
