import { hash } from 'node:crypto';
import test from 'ava';
import { trustedProxies } from '../../../engine/http/access/access.ts';
import { type AccessRules, admission } from '../../../engine/http/admission.ts';
import {
  allowedHosts,
  type Door,
  headersOf,
  keyRows,
  statusOf,
  type Way,
  ways,
} from '../../support/admission-table.ts';

const doors: Readonly<Record<Door, { readonly open: boolean; readonly forClients?: boolean } | undefined>> = {
  open: { open: true },
  clients: { open: false, forClients: true },
  administrator: { open: false },
  none: undefined,
};
const doorNames: readonly Door[] = ['open', 'clients', 'administrator', 'none'];

const statusIn = (admitted: ReturnType<AccessRules['admit']>, door: Door): number => {
  if (!('fault' in admitted)) return door === 'none' ? 404 : 200;
  return admitted.fault.kind === 'unauthorized' ? 401 : 403;
};

for (const row of keyRows) {
  test(`S4 ${row.title}: what opens, however the request comes`, (t) => {
    for (const { kind, way } of ways) {
      const { admit } = admission({
        ...row.keys,
        guard: { host: '127.0.0.1', allowedHosts },
        proxies: trustedProxies(way.proxies ?? []),
      });
      const caller = {
        headers: headersOf(way, row.sent, 3456).flat(),
        remoteAddress: way.peer ?? '127.0.0.1',
        proxiedAddress: () => way.proxied ?? '',
      };
      const got = doorNames.map((door) => statusIn(admit(caller, doors[door]), door));
      t.deepEqual(
        got,
        doorNames.map((door) => statusOf(row, kind, door)),
        `${kind} ${JSON.stringify(way)}`,
      );
    }
  });
}

const reasons: readonly (readonly [way: Way, words: RegExp])[] = [
  [{ peer: '10.1.2.3' }, /this request comes from another machine\. Set APIKEY/],
  [{ proxies: ['127.0.0.1'] }, /comes from a proxy that PROXIES lists/],
  [{ proxied: '10.1.2.3' }, /was forwarded with the PROXY protocol/],
  [{ headers: { 'x-real-ip': '127.0.0.1' } }, /was forwarded: it has the header x-real-ip/],
  [{ host: 'any.example' }, /names a host, or comes from a page, that is not at a loopback address/],
];

test('S4 a refusal without APIKEY says why, and what to do', (t) => {
  for (const [way, reason] of reasons) {
    const { peer = '127.0.0.1', proxies = [], proxied = '' } = way;
    const { admit } = admission({ guard: { host: '127.0.0.1', allowedHosts }, proxies: trustedProxies(proxies) });
    const caller = { headers: headersOf(way, undefined, 1).flat(), remoteAddress: peer, proxiedAddress: () => proxied };
    const refused = admit(caller, doors.administrator);
    t.regex('fault' in refused ? refused.fault.message : '', reason);
  }
});

test('F11 the key of a client ends at its time, with a 401 that says so; that of the administrator never', (t) => {
  let now = 999;
  const { admit } = admission({
    apiKey: 'admin',
    clients: [
      { name: 'team-a', keyHash: hash('sha256', 'short', 'hex'), expiresAtMs: 1_000 },
      { name: 'team-b', keyHash: hash('sha256', 'long', 'hex') },
    ],
    guard: { host: '127.0.0.1', allowedHosts },
    proxies: trustedProxies([]),
    nowMs: () => now,
  });
  const statuses = () =>
    ['admin', 'short', 'long'].map((key) =>
      statusIn(
        admit(
          { headers: ['host', '127.0.0.1', 'x-api-key', key], remoteAddress: '127.0.0.1', proxiedAddress: () => '' },
          doors.clients,
        ),
        'clients',
      ),
    );
  t.deepEqual(statuses(), [200, 200, 200]);
  now = 1_000;
  t.deepEqual(statuses(), [200, 401, 200]);
  const refused = admit(
    { headers: ['host', '127.0.0.1', 'x-api-key', 'short'], remoteAddress: '127.0.0.1', proxiedAddress: () => '' },
    doors.clients,
  );
  t.true('fault' in refused && refused.keyRefusal === 'expired_key');
  t.regex('fault' in refused ? refused.fault.message : '', /client team-a expired at 1970-01-01T00:00:01/);
});
