import test from 'ava';
import { baseUrlOf, type ListenAddress, listenAt } from '../../../../engine/service/workers/listen-address.ts';

const taken: ListenAddress = { host: '127.0.0.1', configuredPort: 0, port: 4711, addresses: ['127.0.0.1', '::1'] };

const cases: readonly (readonly [
  title: string,
  asked: { host: string; port: number },
  taken: ListenAddress | undefined,
  at: object,
])[] = [
  ['the first opens what is configured', { host: 'a', port: 1 }, undefined, { host: 'a', port: 1, share: {} }],
  [
    'the next joins it, whatever port the system chose',
    { host: '127.0.0.1', port: 0 },
    taken,
    { host: '127.0.0.1', port: 4711, share: { addresses: taken.addresses } },
  ],
  [
    'another address at the same port is opened beside it',
    { host: '0.0.0.0', port: 4711 },
    taken,
    { host: '0.0.0.0', port: 4711, share: { closingAddresses: taken.addresses } },
  ],
  ['another port is opened anew', { host: '127.0.0.1', port: 1 }, taken, { host: '127.0.0.1', port: 1, share: {} }],
  ['so is another address', { host: '::1', port: 0 }, taken, { host: '::1', port: 0, share: {} }],
];

for (const [title, asked, beside, at] of cases)
  test(title, (t) => t.deepEqual<unknown, unknown>(listenAt(asked, beside), at));

for (const [address, url] of [
  ['127.0.0.1', 'http://127.0.0.1:80'],
  ['::1', 'http://[::1]:80'],
  ['0.0.0.0', 'http://127.0.0.1:80'],
  ['::', 'http://[::1]:80'],
  ['10.0.0.1', 'http://10.0.0.1:80'],
] as const) {
  test(`the address to call for ${address}`, (t) => {
    t.is(baseUrlOf({ host: address, configuredPort: 80, port: 80, addresses: [address] }), url);
  });
}
