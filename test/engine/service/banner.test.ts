import test from 'ava';
import { validateConfig } from '../../../engine/config/validate.ts';
import { banner } from '../../../engine/service/banner.ts';

const shown = (demo: boolean, address = '127.0.0.1'): string => {
  const read = validateConfig({}, {});
  if ('faults' in read) throw new Error('an empty configuration can be used');
  return banner({
    baseUrl: 'http://127.0.0.1:3456',
    config: read.config,
    file: '/home/u/.junctor/config.json',
    demo,
    http: { server: 'node', reason: 'no build' },
    place: { host: address, configuredPort: 3456, port: 3456, addresses: [address] },
  });
};

test('the banner names the web interface and the file to edit, with or without one', (t) => {
  for (const demo of [false, true]) {
    t.regex(shown(demo), /^ {2}web interface {2}http:\/\/127\.0\.0\.1:3456\/ui$/m);
    t.regex(shown(demo), /^ {2}HTTP server {4}node:http \(no build\)$/m);
    t.regex(shown(demo), /^ {2}configuration {2}\/home\/u\/\.junctor\/config\.json/m);
  }
  t.regex(shown(true), /config\.json \(not there yet/);
  t.notRegex(shown(false), /not there yet/);
});

test('F10 the banner names the address for other machines, and ALLOWED_HOSTS, only if it listens beyond loopback', (t) => {
  t.regex(shown(false, '10.0.0.7'), /^ {2}other machines http:\/\/10\.0\.0\.7:3456 .*ALLOWED_HOSTS/m);
  t.regex(shown(false, '0.0.0.0'), /^ {2}other machines http:\/\/\d/m);
  t.notRegex(shown(false), /ALLOWED_HOSTS/);
});
