import test from 'ava';
import { originGuard } from '../../../../engine/http/access/access.ts';

const local = originGuard({ host: '127.0.0.1', allowedHosts: [] });
const listed = originGuard({
  host: 'gateway.lan',
  allowedHosts: ['Proxy.Example.com', 'dev.example.com:8443', '[fd00::1]', 'not a host/'],
});
const wildcard = originGuard({ host: '0.0.0.0', allowedHosts: ['box.lan'] });
const six = originGuard({ host: 'fd00::5', allowedHosts: [] });

const hosts = [
  [local, 'localhost', true],
  [local, 'localhost:3456', true],
  [local, 'LOCALHOST:1', true],
  [local, 'localhost.', true],
  [local, 'localhost.:3456', true],
  [local, '127.0.0.1', true],
  [local, '127.0.0.1:65535', true],
  [local, '127.255.3.4:3456', true],
  [local, '[::1]', true],
  [local, '[::1]:3456', true],
  [local, '[0:0:0:0:0:0:0:1]:3456', true],
  [local, '[::ffff:127.0.0.1]:3456', true],
  [local, '[::FFFF:7f00:1]', true],
  [local, '', false],
  [local, 'localhost..', false],
  [local, 'localhost:65536', false],
  [local, 'localhost:', false],
  [local, 'localhost:x', false],
  [local, 'localhost.evil.com', false],
  [local, 'evil.com', false],
  [local, '127.0.0.1.evil.com', false],
  [local, 'user@localhost', false],
  [local, 'localhost/x', false],
  [local, 'localhost, evil.com', false],
  [local, '::1', false],
  [local, '[::1', false],
  [local, '[::1%25lo]', false],
  [local, '[::2]', false],
  [local, '[::ffff:10.0.0.1]', false],
  [local, '128.0.0.1', false],
  [local, '127.1', false],
  [local, '0177.0.0.1', false],
  [local, '2130706433', false],
  [local, '0x7f000001', false],
  [local, '0.0.0.0', false],
  [local, '192.168.1.5', false],
  [local, 'ｌocalhost', false],
  [listed, 'gateway.lan:3456', true],
  [listed, 'GATEWAY.LAN.', true],
  [listed, 'proxy.example.com', true],
  [listed, 'dev.example.com:8443', true],
  [listed, 'dev.example.com', false],
  [listed, 'a.proxy.example.com', false],
  [listed, '[fd00:0::1]:1', true],
  [listed, 'localhost', true],
  [wildcard, '192.168.1.5:3456', true],
  [wildcard, '[fd00::9]', true],
  [wildcard, 'box.lan', true],
  [wildcard, 'rebound.example.com', false],
  [six, '[fd00::5]:3456', true],
  [six, '[fd00::6]:3456', false],
] as const;

for (const [check, host, passes] of hosts) {
  const who = check === local ? 'local' : check === listed ? 'listed' : check === wildcard ? 'wildcard' : 'six';
  test(`S2 ${who}: host "${host}" ${passes ? 'passes' : 'is refused'}`, (t) => {
    t.is(check(['host', host])?.kind, passes ? undefined : 'forbidden');
  });
}

test('S2 a request without a host or with two is refused', (t) => {
  t.is(local([])?.kind, 'forbidden');
  t.is(local(['host', 'localhost', 'host', 'localhost'])?.kind, 'forbidden');
});

const origins = [
  ['localhost:3456', { origin: 'http://localhost:3456' }, true],
  ['localhost:3456', { origin: 'http://127.0.0.1:3456' }, true],
  ['127.0.0.1:3456', { origin: 'http://[::1]:3456' }, true],
  ['localhost', { origin: 'http://localhost' }, true],
  ['localhost:80', { origin: 'http://localhost' }, true],
  ['gateway.lan', { origin: 'https://gateway.lan' }, true],
  ['gateway.lan:443', { origin: 'https://gateway.lan' }, true],
  ['gateway.lan:3456', { origin: 'http://gateway.lan:3456' }, true],
  ['gateway.lan:3456', { origin: 'http://gateway.lan:8080' }, false],
  ['gateway.lan:3456', { origin: 'http://gateway.lan' }, false],
  ['localhost:3456', { origin: 'https://proxy.example.com' }, true],
  ['localhost:3456', { origin: 'https://dev.example.com:8443' }, true],
  ['localhost:3456', { origin: 'https://dev.example.com' }, false],
  ['localhost:3456', { origin: 'http://localhost:3000' }, false],
  ['localhost:3456', { origin: 'http://localhost' }, false],
  ['localhost:3456', { origin: 'https://evil.com' }, false],
  ['localhost:3456', { origin: 'http://localhost:3456.evil.com' }, false],
  ['localhost:3456', { origin: 'http://localhost:3456/path' }, false],
  ['localhost:3456', { origin: 'null' }, false],
  ['localhost:3456', { origin: '' }, false],
  ['localhost:3456', { origin: 'file://' }, false],
  ['localhost:3456', { origin: 'chrome-extension://localhost:3456' }, false],
  ['localhost:3456', { 'sec-fetch-site': 'none' }, true],
  ['localhost:3456', { 'sec-fetch-site': 'same-origin' }, true],
  ['localhost:3456', { 'sec-fetch-site': 'same-site' }, true],
  ['localhost:3456', { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' }, false],
  ['localhost:3456', { 'sec-fetch-site': 'cross-site' }, false],
  ['localhost:3456', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:3456' }, false],
  ['localhost:3456', { 'sec-fetch-site': 'else' }, false],
] as const;

for (const [host, headers, passes] of origins) {
  test(`S3 at ${host}, ${JSON.stringify(headers)} ${passes ? 'passes' : 'is refused'}`, (t) => {
    t.is(listed(['host', host, ...Object.entries(headers).flat()])?.kind, passes ? undefined : 'forbidden');
  });
}

test('S3 two origins are refused', (t) => {
  const origin = ['origin', 'http://localhost'];
  t.is(local(['host', 'localhost', ...origin, ...origin])?.kind, 'forbidden');
});
