import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../../engine/http/bind.ts';
import { isMissing, startRedis } from '../../support/processes/redis.ts';
import { until } from '../../support/until.ts';
import { inProcessFleet, untilServed } from './rig.ts';

const folderOf = (t: ExecutionContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'junctor-store-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Waits until the store answers. */
const untilUp = ({ metric }: Awaited<ReturnType<typeof inProcessFleet>>): Promise<void> =>
  until(async () => (await metric('store_up')) === 1);

/** Makes an authority, and a certificate that it signs for `localhost`. */
const certificates = (t: ExecutionContext) => {
  const folder = folderOf(t);
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): void => {
    const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  };
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=test'];
  openssl('req', '-x509', ...made, '-keyout', file('ca.key'), '-out', file('ca.pem'));
  openssl('req', ...made, '-keyout', file('store.key'), '-out', file('store.csr'));
  writeFileSync(file('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  const signed = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', '2'];
  openssl('x509', '-req', '-in', file('store.csr'), ...signed, '-extfile', file('names'), '-out', file('store.pem'));
  return { ca: file('ca.pem'), cert: file('store.pem'), key: file('store.key') };
};

test('TLS: the certificate is checked, and what is wrong is said', async (t) => {
  if (isMissing(t, 'redis-server') || isMissing(t, 'openssl', 'version')) return;
  const { ca, cert, key } = certificates(t);
  const secure = await freePort('127.0.0.1');
  const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no'];
  const { port } = await startRedis(t, '--tls-port', String(secure), ...files);
  for (const host of ['localhost', '127.0.0.1']) {
    const gateway = await inProcessFleet(t, { store: `rediss://${host}:${secure}`, ca });
    await untilUp(gateway);
    await untilServed(gateway);
  }
  const refused: readonly (readonly [store: string, ca: string | undefined, says: RegExp])[] = [
    [`rediss://localhost:${secure}`, undefined, /certificate is of an unknown authority: name its file in FLEET\.ca/],
    [`rediss://localhost:${port}`, ca, /does not answer.*: .* whether its port has TLS/],
    [`redis://localhost:${secure}`, undefined, /closes connections: .* whether it wants TLS/],
  ];
  for (const [store, authority, says] of refused) {
    const gateway = await inProcessFleet(t, { store, ...(authority !== undefined && { ca: authority }) });
    await until(async () => says.test((await gateway.fetchJson('/api/fleet')).store.problem));
    t.is(await gateway.metric('store_up'), 0, store);
    t.is(await gateway.ask(), 200, store);
  }
});

test('Sentinel: the gateway follows to the new primary, with the same account', async (t) => {
  if (isMissing(t, 'redis-server')) return;
  const account = ['--user', 'sy', 'on', '>right', '~*', '&*', '+@all'];
  const first = await startRedis(t, ...account);
  const second = await startRedis(t, ...account, '--replicaof', '127.0.0.1', String(first.port));
  await until(async () => String(await second.run('INFO', 'replication')).includes('master_link_status:up'));
  const folder = folderOf(t);
  const port = await freePort('127.0.0.1');
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    'user sy on >right ~* &* +@all',
    `sentinel monitor main 127.0.0.1 ${first.port} 1`,
    'sentinel down-after-milliseconds main 500',
    'sentinel failover-timeout main 2000',
  ];
  writeFileSync(join(folder, 'sentinel.conf'), settings.join('\n'));
  const sentinel = spawn('redis-server', [join(folder, 'sentinel.conf'), '--sentinel'], { stdio: 'ignore' });
  const ended = once(sentinel, 'exit');
  t.teardown(async () => {
    sentinel.kill('SIGKILL');
    await ended;
  });
  const gateway = await inProcessFleet(t, { store: `redis://sy:right@127.0.0.1:${port}`, primary: 'main' });
  await untilUp(gateway);
  await until(async () => String(await second.run('HGETALL', 'sy:{junctor}:who')).length > 0);
  await untilServed(gateway);
  await first.kill();
  await until(async () => (await gateway.metric('store_up')) === 0);
  // While there is no primary.
  await untilServed(gateway);
  await untilUp(gateway);
  t.regex(String(await second.run('ROLE')), /^master/);
  const before = await second.run('HGET', 'sy:{junctor}:v', 'n');
  t.true(before !== null);
  const leases = await gateway.metric('leases_total');
  await until(async () => {
    await untilServed(gateway);
    return (await gateway.metric('leases_total')) > leases;
  });
});

test('Cluster: limits are granted by all of its nodes; without one of them, by shares', async (t) => {
  if (isMissing(t, 'redis-server') || isMissing(t, 'redis-cli')) return;
  const nodes = await Promise.all(
    [1, 2, 3].map(async () => {
      const bus = String(await freePort('127.0.0.1'));
      const timeouts = ['--cluster-node-timeout', '1000'];
      return startRedis(t, '--cluster-enabled', 'yes', '--cluster-port', bus, ...timeouts);
    }),
  );
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  const made = spawnSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes'], { encoding: 'utf8' });
  t.is(made.status, 0, made.stdout);
  for (const { run } of nodes)
    await until(async () => String(await run('CLUSTER', 'INFO')).includes('cluster_state:ok'));
  const store = nodes.map(({ url }) => url);
  const [one, two] = await Promise.all([inProcessFleet(t, { store }), inProcessFleet(t, { store })]);
  for (const { fetchJson } of [one, two]) {
    await until(async () => (await fetchJson('/api/fleet')).members.length === 2);
  }
  await until(async () => {
    await untilServed(one);
    return (await one.metric('leases_total')) > 0;
  });
  await nodes[0]?.kill();
  await until(async () => (await one.metric('store_up')) === 0);
  await untilServed(one);
  t.truthy((await one.fetchJson('/api/fleet')).store.problem);
});
