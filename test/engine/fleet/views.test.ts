import test from 'ava';
import { request } from 'undici';
import { answerNode, openNodes } from '../../../engine/features/fleet/nodes.ts';
import { createSealer } from '../../../engine/hub/seal.ts';
import { outerUrlOf } from '../../../engine/service/workers/listen-address.ts';
import { isMissing, startRedis } from '../../support/processes/redis.ts';
import { until } from '../../support/until.ts';
import { client } from '../features/clients/rig.ts';
import { fleetKey, inProcessFleet, untilMet } from './rig.ts';

interface Told {
  readonly machines?: { readonly heard: number };
  readonly capture?: unknown;
}

test('requests, captures, activity and usage are those of all machines, whichever is asked', async (t) => {
  if (isMissing(t, 'redis-server')) return;
  const { url } = await startRedis(t);
  // Without a limit: of one, a member that is late may get nothing for a moment.
  const unlimited = { CLIENTS: [client('a')] };
  const [one, two] = await Promise.all([1, 2].map(() => inProcessFleet(t, { store: url }, undefined, unlimited)));
  if (!one || !two) return t.fail();
  await Promise.all([one, two].map((machine) => machine.post('/api/capture', { on: true })));
  await untilMet(
    [one, two].map(({ fetch }) => ({ fetch })),
    one.admin,
  );
  t.deepEqual([await one.ask(), await two.ask(), await two.ask()], [200, 200, 200]);

  /** What both machines know: on a busy machine, the other may answer too late. */
  const ofBoth = async (path: string, isWhole = (answer: Told) => answer.machines?.heard === 2) => {
    let answer = await one.fetchJson(path);
    await until(async () => {
      if (isWhole(answer)) return true;
      answer = await one.fetchJson(path);
      return false;
    });
    return answer;
  };
  const { requests, machines } = await ofBoth('/api/requests');
  t.deepEqual(machines, { known: 2, heard: 2 });
  t.is(requests.length, 3);
  const elsewhere = requests.filter((summary: { machine?: string }) => summary.machine !== undefined);
  t.is(elsewhere.length, 2, 'those of the other machine name it');

  const [{ id }] = elsewhere;
  const { capture } = await ofBoth(`/api/requests/${id}`, (answer) => answer.capture !== undefined);
  t.is(JSON.parse(capture.client.body).messages[0].content, 'hi');

  const { lines, machines: heard } = await ofBoth('/api/activity');
  t.deepEqual(heard, { known: 2, heard: 2 });
  t.deepEqual(
    lines.map(({ model, requests: count }: { model: string; requests: number }) => [model, count]),
    [['m', 3]],
  );

  const usage = await ofBoth('/api/usage?by=client');
  t.deepEqual(usage.machines, { known: 2, heard: 2 });
  t.is(usage.total.requests, 3);
  const byMinute = await ofBoth('/api/usage?step=minute&from=1h');
  t.deepEqual([byMinute.machines, byMinute.total], [usage.machines, usage.total]);
  t.deepEqual(
    usage.rows.map(({ name, requests: count }: { name: string; requests: number }) => [name, count]),
    [['a', 3]],
  );

  // What one machine keeps is its own to remove.
  await one.post('/api/capture', { on: false });
  t.true((await two.fetchJson('/api/capture')).on);

  await two.stopListening();
  await until(async () => (await one.fetchJson('/api/requests')).machines?.heard !== 2);
  t.is((await one.fetchJson('/api/requests')).requests.length, 1);
});

const keyBytes = Buffer.from(fleetKey, 'hex');
const sealer = createSealer([keyBytes]);
const member = { pid: 1, version: '1', config: '', configSeconds: 0, streams: 0, isThis: false, isStranger: false };

/** What a machine sends to another, and what comes of it. */
const exchanged = async (askKeys: readonly Buffer[], answerKeys: readonly Buffer[], laterMs = 0) => {
  const asking = createSealer(askKeys);
  const answering = createSealer(answerKeys);
  const { value } = asking.seal(
    'question of the fleet',
    JSON.stringify({ atMs: 1_000_000, question: { kind: 'activity', minutes: 0 } }),
  );
  return answerNode(answering, 1_000_000 + laterMs, value, async () => ['canary']);
};

test('a question needs a key of the fleet and a time near now; the answer is sealed', async (t) => {
  const other = Buffer.from('01'.repeat(32), 'hex');
  t.false((await exchanged([keyBytes], [keyBytes])).includes('canary'));
  await t.notThrowsAsync(exchanged([keyBytes], [other, keyBytes]), 'while a key is replaced');
  await t.throwsAsync(exchanged([other], [keyBytes]), { message: /sealed with the fleet's key/ });
  await t.throwsAsync(exchanged([keyBytes], [keyBytes], 31_000), { message: /too old or too new/ });
  await t.throwsAsync(exchanged([keyBytes], [keyBytes], -31_000), { message: /too old or too new/ });
  for (const hostile of ['', 'x', sealer.seal('facts', '{}').value, sealer.seal('question of the fleet', '{}').value])
    await t.throwsAsync(
      answerNode(sealer, 0, hostile, async () => undefined),
      { message: /sealed with the fleet's key/ },
    );
});

test('the endpoint needs no key of the gateway, and tells strangers nothing', async (t) => {
  if (isMissing(t, 'redis-server')) return;
  const { url } = await startRedis(t);
  const { baseUrl } = await inProcessFleet(t, { store: url });
  const answer = await request(`${baseUrl}/api/fleet/answers?question=x`, { headers: { host: 'gateway.example' } });
  t.is(answer.statusCode, 401);
  t.like(await answer.body.json(), { success: false });
  const statusOf = async (question: object): Promise<number> => {
    const { value } = sealer.seal('question of the fleet', JSON.stringify({ atMs: Date.now(), question }));
    return (await request(`${baseUrl}/api/fleet/answers?${new URLSearchParams({ question: value })}`)).statusCode;
  };
  t.is(await statusOf({ kind: 'activity', minutes: 0 }), 200);
  for (const kind of ['clear', 'capture', 'metrics', 'unknown'])
    t.is(await statusOf({ kind }), 401, 'other machines only read');
});

test('each address of a machine is asked once; strangers, and loopback addresses of other machines, are not', async (t) => {
  const at = (machine: string, address: string, more: object = {}) => ({ ...member, machine, address, ...more });
  const members = [
    at('a', 'http://127.0.0.1:9', { isThis: true }),
    at('a', 'http://127.0.0.1:9', { pid: 2 }),
    at('a', 'http://127.0.0.1:1'),
    at('b', 'http://127.0.0.1:9'),
    at('c', 'http://[::1]:9'),
    at('d', 'http://127.0.0.1:1', { isStranger: true }),
    at('e', 'nowhere'),
  ];
  const machines = openNodes({ members: () => members, machine: 'a', sealer }, () => 0);
  t.true(machines.isShared());
  const { heard } = await machines.ask(() => ({ kind: 'activity', minutes: 0 }));
  t.deepEqual(heard, { known: 5, heard: 1 }, 'itself; one is gone, three are out of reach');
});

const inner = { family: 'IPv4', internal: true, address: '127.0.0.1', netmask: '', mac: '', cidr: null } as const;
const outer = { ...inner, internal: false, address: '10.0.0.7' } as const;
const local = { ...outer, family: 'IPv6', address: 'fe80::1', scopeid: 2 } as const;
const global = { ...local, address: 'fd00::7', scopeid: 0 } as const;

test('a machine names an address at which others reach it', (t) => {
  const at = (address: string, interfaces: Parameters<typeof outerUrlOf>[1]) =>
    outerUrlOf({ host: '', configuredPort: 1, port: 1, addresses: [address] }, interfaces);
  t.is(at('0.0.0.0', { lo: [inner], eth: [local, global, outer] }), 'http://10.0.0.7:1');
  t.is(at('::', { lo: [inner], eth: [local, global] }), 'http://[fd00::7]:1');
  t.is(at('0.0.0.0', { lo: [inner] }), 'http://127.0.0.1:1');
  t.is(at('192.168.1.2', { eth: [outer] }), 'http://192.168.1.2:1');
});
