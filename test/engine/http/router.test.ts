import test from 'ava';
import type { Endpoint } from '../../../engine/http/endpoint.ts';
import { createRouter } from '../../../engine/http/router.ts';
import { echo, plainWording, wording } from './rig.ts';

const messages: Endpoint = { ...echo, formatFault: wording('messages') };
const chat: Endpoint = { ...echo, formatFault: wording('chat') };
const ui: Endpoint = { ...echo, formatFault: wording('ui'), open: true };
const named = new Map<Endpoint, string>([
  [messages, 'messages'],
  [chat, 'chat'],
  [ui, 'ui'],
]);

const table = createRouter(
  [
    { method: 'POST', path: '/v1/messages', endpoint: messages },
    { method: 'POST', path: '/v1/messages/count_tokens', endpoint: messages },
    { method: 'POST', path: '/v1/chat/completions', endpoint: chat },
    { method: 'POST', path: '/preset/:preset/v1/messages', endpoint: messages },
    { method: 'GET', path: '/v1/models/:id', endpoint: chat },
    { method: 'GET', path: '/v1/models/all', endpoint: ui },
    { method: 'GET', path: '/', endpoint: ui },
    { method: 'GET', path: '/ui', endpoint: ui },
    { method: 'GET', path: '/ui/*', endpoint: ui },
    { method: 'GET', path: '/api/logs', endpoint: chat },
    { method: 'DELETE', path: '/api/logs', endpoint: chat },
  ],
  plainWording,
);

const matches = [
  ['POST', '/v1/messages', 'messages', {}],
  ['POST', '/preset/fast/v1/messages', 'messages', { preset: 'fast' }],
  ['POST', '/preset/a%20b/v1/messages', 'messages', { preset: 'a b' }],
  ['GET', '/v1/models/openrouter%2Canthropic%2Fclaude', 'chat', { id: 'openrouter,anthropic/claude' }],
  ['GET', '/v1/models/openai,gpt', 'chat', { id: 'openai,gpt' }],
  ['HEAD', '/v1/models/x', 'chat', { id: 'x' }],
  ['GET', '/v1/models/all', 'ui', {}],
  ['GET', '/', 'ui', {}],
  ['HEAD', '/', 'ui', {}],
  ['GET', '/ui', 'ui', {}],
  ['GET', '/ui/', 'ui', { '*': '' }],
  ['GET', '/ui/assets/a%20b.js', 'ui', { '*': 'assets/a b.js' }],
  ['DELETE', '/api/logs', 'chat', {}],
] as const;

for (const [method, path, expected, params] of matches) {
  test(`${method} ${path} is served`, (t) => {
    const found = table.find(method, path);
    t.true('endpoint' in found);
    if (!('endpoint' in found)) return;
    t.is(named.get(found.endpoint), expected);
    t.deepEqual(found.params, params);
  });
}

const misses = [
  ['GET', '/v1/messages', 'method-not-allowed', 'messages', 'POST'],
  ['GET', '/ui/./index.html', 'not-found', 'ui'],
  ['OPTIONS', '/ui', 'method-not-allowed', 'ui', 'GET, HEAD'],
  ['PUT', '/api/logs', 'method-not-allowed', 'chat', 'GET, HEAD, DELETE'],
  ['POST', '/v1/models/x', 'method-not-allowed', 'chat', 'GET, HEAD'],
  ['get', '/ui', 'method-not-allowed', 'ui', 'GET, HEAD'],
  ['POST', '/v1/messages/batches', 'not-found', 'messages', undefined],
  ['POST', '/v1/messages/', 'not-found', 'messages', undefined],
  ['POST', '/preset/x/v1/nothing', 'not-found', 'messages', undefined],
  ['POST', '/v1/nothing', 'not-found', 'default', undefined],
  ['POST', '/V1/messages', 'not-found', 'default', undefined],
  ['GET', '//', 'not-found', 'default', undefined],
  ['GET', '/api/nothing', 'not-found', 'chat', undefined],
  ['GET', '/v1/models/', 'not-found', 'chat', undefined],
  ['GET', '/v1/models/%', 'not-found', 'chat', undefined],
  ['GET', '/v1/models/a/b', 'not-found', 'chat', undefined],
  ['GET', '/ui/../api/logs', 'not-found', 'ui', undefined],
  ['GET', '/ui/%2e%2e/secret', 'not-found', 'ui', undefined],
  ['GET', '/ui/a%2Fb', 'not-found', 'ui', undefined],
  ['GET', '/ui/a%5C..%5Cb', 'not-found', 'ui', undefined],
  ['GET', '/ui/a%00', 'not-found', 'ui', undefined],
] as const;

for (const [method, path, kind, by, allow] of misses) {
  test(`${method} ${path} is ${kind}, worded by ${by}`, (t) => {
    const found = table.find(method, path);
    t.true('fault' in found);
    if (!('fault' in found)) return;
    t.is(found.fault.kind, kind);
    t.is(found.formatFault(found.fault, 'r').body.by, by);
    t.is(found.fault.headers?.allow, allow);
  });
}

test('an empty router finds nothing', (t) => {
  const found = createRouter([], plainWording).find('GET', '/');
  t.is('fault' in found ? found.fault.kind : '', 'not-found');
});
