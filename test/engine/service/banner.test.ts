import test from 'ava';
import { validateConfig } from '../../../engine/config/validate.ts';
import { banner } from '../../../engine/service/banner.ts';

const shown = (demo: boolean): string => {
  const read = validateConfig({}, {});
  if ('faults' in read) throw new Error('an empty configuration can be used');
  return banner({
    baseUrl: 'http://127.0.0.1:3456',
    config: read.config,
    file: '/home/u/.junctor/config.json',
    demo,
    http: { server: 'node', reason: 'no build' },
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
