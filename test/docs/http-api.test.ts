import { readFileSync } from 'node:fs';
import test from 'ava';
import { request } from 'undici';
import { startGateway } from '../support/gateway.ts';

const page = readFileSync(new URL('../../docs/http-api.md', import.meta.url), 'utf8');

/** `{name}` and `:name` alike; files below `/ui` are one, and so are all paths of a preset. */
const plain = (path: string): string =>
  path
    .replaceAll(/:(\w+)/g, '{$1}')
    .replace(/^\/ui\/.*$/, '/ui')
    .replace(/^\/preset\/.*$/, '/preset/{name}')
    .replace(/\/\*$/, '');

test('the page on the HTTP API has every path and every metric of a running service, and no other metric', async (t) => {
  const gateway = await startGateway({
    LOG: false,
    GRAMMAR: 'watch',
    Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: ['k', 'l'], models: ['m'] }],
  });
  t.teardown(gateway.stop);
  const paths = [...new Set(gateway.routes.map(({ path }) => plain(path)))];
  t.true(paths.length > 30);
  t.deepEqual(
    paths.filter((path) => path !== '/' && !page.includes(path)),
    [],
  );
  const metrics = await (await request(`${gateway.baseUrl}/metrics`)).body.text();
  const counted = [...metrics.matchAll(/^# TYPE junctor_(\w+)/gm)].map(([, name = '']) => name);
  const documented = [...page.slice(page.indexOf('## Metrics')).matchAll(/^\|`(\w+)`\|/gm)].map(
    ([, name = '']) => name,
  );
  t.deepEqual(counted.sort(), documented.sort());
});
