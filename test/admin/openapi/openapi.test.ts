import test, { type ExecutionContext } from 'ava';
import Type from 'typebox';
import { request } from 'undici';
import { modelListPaths } from '../../../admin/config/models.ts';
import { transformerOperations } from '../../../admin/config/transformers.ts';
import { healthRoutes } from '../../../admin/health.ts';
import { lazyRoutes } from '../../../admin/lazy-routes.ts';
import { countTokensDoc, modelRouteDoc } from '../../../admin/openapi/model-docs.ts';
import { openApiDocument, openApiOperations } from '../../../admin/openapi/openapi.ts';
import { countTokensEndpoint } from '../../../engine/endpoints/count-tokens.ts';
import { modelEndpoint } from '../../../engine/endpoints/model.ts';
import { createMetrics } from '../../../engine/features/metrics/metrics.ts';
import { metricsOperations } from '../../../engine/features/metrics/routes.ts';
import type { DocumentedRoute } from '../../../engine/http/documented-route.ts';
import type { HttpRoute } from '../../../engine/http/router.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { chatModels } from '../../../protocols/chat/models.ts';
import { clientProtocols } from '../../../protocols/index.ts';
import { messagesCounting } from '../../../protocols/messages/count-tokens.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';
import { messagesModels } from '../../../protocols/messages/models.ts';
import { messagesCountRequest, messagesSchemas } from '../../../protocols/messages/openapi.ts';
import { defaultFormat, formats, stages } from '../../../transformers/index.ts';
import { echo, serve } from '../../engine/http/rig.ts';
import { configOf, gatewayOf } from '../../support/gateway-of.ts';
import { isDescribed, misfitsOf } from '../../support/openapi.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

/** A service with all rows that can be made here, before an upstream of Chat Completions. */
const open = async (t: ExecutionContext) => {
  const upstream = await startUpstream(({ body }) =>
    Object(body).model === 'bad'
      ? jsonAnswer({ error: { message: 'no', type: 'x' } }, 400)
      : jsonAnswer({
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
        }),
  );
  t.teardown(upstream.close);
  const config = configOf({ Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }] });
  const gateway = gatewayOf(t, config);
  const models = clientProtocols.flatMap(({ protocol, paths, schemas }) => {
    const endpoint = modelEndpoint(protocol, { gateway }, []);
    return paths.map((path): DocumentedRoute => ({ method: 'POST', path, endpoint, doc: modelRouteDoc(schemas) }));
  });
  const counting: DocumentedRoute = {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    endpoint: countTokensEndpoint({ client: messagesClient, ...messagesCounting, limitMs: 100 }, { gateway }),
    doc: { ...countTokensDoc, request: messagesCountRequest, fault: messagesSchemas.fault },
  };
  const lists = modelListPaths({ listings: [messagesModels], plain: chatModels, startedAtMs: 0 });
  const rows: readonly DocumentedRoute[] = [
    ...models,
    counting,
    ...lists.map(({ endpointFor, ...row }) => ({ ...row, endpoint: endpointFor({ gateway }) })),
    ...lazyRoutes({ metrics: 'GET /metrics' }, async () => metricsOperations(createMetrics())),
    ...healthRoutes(() => ({ draining: false })),
    ...lazyRoutes({ list: 'GET /api/transformers' }, async () =>
      transformerOperations(() => ({ formats, stages, defaultFormat, custom: new Map() })),
    ),
    ...lazyRoutes({ document: 'GET /openapi.json' }, async () => openApiOperations(() => rows, '1.2.3')),
  ];
  const { port } = await serve(t, rows, { apiKey: 'secret' });
  return async (
    method: 'GET' | 'POST',
    path: string,
    body?: JsonObject,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const answer = await request(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'x-api-key': 'secret', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const contentType = answer.headers['content-type']?.toString();
    return { method, path, status: answer.statusCode, contentType, body: await answer.body.text() };
  };
};

const hi = [{ role: 'user', content: 'hi' }];
const calls: readonly (readonly [
  method: 'GET' | 'POST',
  path: string,
  body?: JsonObject | undefined,
  headers?: Readonly<Record<string, string>>,
])[] = [
  ['POST', '/v1/messages', { model: 'p,m', max_tokens: 9, messages: hi }],
  ['POST', '/v1/messages', { model: 'p,bad', max_tokens: 9, messages: hi }],
  ['POST', '/v1/messages', { model: 'p,m' }],
  ['POST', '/v1/chat/completions', { model: 'p,m', messages: hi }],
  ['POST', '/v1/chat/completions', { model: 'p,bad', messages: hi }],
  ['POST', '/chat/completions', { messages: 1 }],
  ['POST', '/v1/responses', { model: 'p,m', input: 'hi' }],
  ['POST', '/responses', { model: 'p,bad', input: 'hi' }],
  ['POST', '/v1/messages/count_tokens', { model: 'p,m', messages: hi }],
  ['POST', '/v1/messages/count_tokens', {}],
  ['GET', '/v1/models'],
  ['GET', '/v1/models?limit=1', undefined, { 'anthropic-version': '2023-06-01' }],
  ['GET', '/v1/models?limit=0', undefined, { 'anthropic-version': '2023-06-01' }],
  ['GET', '/v1/models/p,m'],
  ['GET', '/v1/models/p,m', undefined, { 'anthropic-version': '2023-06-01' }],
  ['GET', '/v1/models/nobody'],
  ['GET', '/v1/models', undefined, { 'x-api-key': 'wrong' }],
  ['GET', '/metrics'],
  ['GET', '/metrics', undefined, { 'x-api-key': 'wrong' }],
  ['GET', '/health'],
  ['GET', '/health/live'],
  ['GET', '/health/ready'],
  ['GET', '/api/transformers'],
  ['GET', '/'],
  ['GET', '/openapi.json'],
];

test('each answer of a running service is as its own description says', async (t) => {
  const ask = await open(t);
  const description = parseJson((await ask('GET', '/openapi.json')).body);
  if (!isJsonObject(description)) return t.fail('the description is no object');
  t.is(description.openapi, '3.1.0');
  t.like(description.info, { version: '1.2.3' });
  const statuses = new Set<number>();
  for (const call of calls) {
    const answer = await ask(...call);
    statuses.add(answer.status);
    isDescribed(t, description, answer);
  }
  return t.deepEqual([...statuses].sort(), [200, 400, 401, 404]);
});

test('the description needs the key', async (t) => {
  const ask = await open(t);
  const refused = await ask('GET', '/openapi.json', undefined, { 'x-api-key': '' });
  t.is(refused.status, 401);
  t.false(refused.body.includes('openapi'));
});

const row = (method: string, path: string, open = false): HttpRoute => ({ method, path, endpoint: { ...echo, open } });
const answers = { 200: { description: 'Yes.', content: { 'application/json': Type.Object({ a: Type.Integer() }) } } };
const doc = {
  summary: 's',
  group: 'management',
  answers,
  query: { q: Type.String() },
  request: Type.Object({}),
} as const;

test('rows become operations: variables, queries, keys, bodies', async (t) => {
  const rows: DocumentedRoute[] = [
    { ...row('POST', '/a/:id/b'), doc },
    { ...row('GET', '/a/:id/b', true), doc: { summary: 'open', group: 'operation', answers: {} } },
    row('GET', '/untold'),
  ];
  const { paths } = await openApiDocument(rows, '1');
  t.deepEqual(Object.keys(Object(paths)), ['/a/{id}/b']);
  t.deepEqual(Object(paths)['/a/{id}/b'], {
    post: {
      operationId: 'postAIdB',
      summary: 's',
      tags: ['management'],
      security: [{ bearer: [] }, { key: [] }],
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
        { name: 'q', in: 'query', schema: { type: 'string' } },
      ],
      requestBody: { required: true, content: { 'application/json': { schema: { type: 'object', properties: {} } } } },
      responses: {
        200: {
          description: 'Yes.',
          content: {
            'application/json': {
              schema: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } },
            },
          },
        },
      },
    },
    get: {
      operationId: 'getAIdB',
      summary: 'open',
      tags: ['operation'],
      security: [],
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      responses: {},
    },
  });
});

const misfits: readonly (readonly [string, number, string, string, RegExp])[] = [
  ['/nowhere', 200, 'application/json', '{}', /not described/],
  ['/a', 200, 'application/json', '{"a":"x"}', /\/a must be integer/],
  ['/a', 200, 'application/json', '{', /the body/],
  ['/a', 200, 'text/html', '<p>', /media type text\/html/],
  ['/a', 201, 'application/json', '{"a":1}', /status 201/],
  ['/a', 404, 'application/json', '{"a":1}', /status 404/],
];
for (const [path, status, contentType, body, why] of misfits) {
  test(`what isn't as described is found: ${path} ${status} ${body}`, async (t) => {
    const description = await openApiDocument([{ ...row('GET', '/a'), doc }], '1');
    t.regex(misfitsOf(description, { method: 'GET', path, status, contentType, body }).join('; '), why);
    t.deepEqual(
      misfitsOf(description, {
        method: 'GET',
        path: '/a?x',
        status: 200,
        contentType: 'application/json',
        body: '{"a":1}',
      }),
      [],
    );
  });
}

test('a route is loaded by its first request, again after a failure, and never opens what is closed', async (t) => {
  let loads = 0;
  const load = async () => {
    loads += 1;
    if (loads === 1) throw new Error('its module is gone');
    return { late: { ...row('GET', ''), doc }, open: row('GET', '', true) };
  };
  const routes = lazyRoutes({ late: 'GET /late', open: 'GET /open' }, load);
  // @ts-expect-error A place without an operation is found by the compiler.
  lazyRoutes({ late: 'GET /late', open: 'GET /open', missing: 'GET /missing' }, load);
  // @ts-expect-error So is an operation without a place.
  lazyRoutes({ late: 'GET /late' }, load);
  const { port } = await serve(t, routes, { apiKey: 'secret' });
  const statusOf = async (path: string, headers = {}) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status;
  const key = { 'x-api-key': 'secret' };
  t.is(await statusOf('/late'), 401);
  t.is(loads, 0, 'without a key, nothing is loaded');
  t.is(await statusOf('/late', key), 500);
  t.is(await statusOf('/late', key), 200);
  t.is(await statusOf('/open'), 401);
  t.is(await statusOf('/open', key), 500);
  t.is(loads, 2);
  t.deepEqual(Object.keys(Object((await openApiDocument(routes.slice(0, 1), '1')).paths)), ['/late']);
});
