import test from 'ava';
import { openApiDocument } from '../../admin/openapi/openapi.ts';
import type { HistoryPage, SessionDetail, SessionList } from '../../engine/features/record/schema.ts';
import { filterNames } from '../../ui/src/pages/requests/request-filter.ts';
import { spans } from '../../ui/src/pages/requests/spans.ts';
import { startGateway } from '../support/gateway.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';

const usage = { prompt_tokens: 1_000_000, completion_tokens: 2_000 };

const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } });
const asked = { role: 'user', content: 'a private word' };
const looked = [
  asked,
  { role: 'assistant', content: null, tool_calls: [call('1', 'read'), call('2', 'read')] },
  { role: 'tool', tool_call_id: '1', content: 'a' },
  { role: 'tool', tool_call_id: '2', content: 'b' },
];
const goesOn = [...looked, { role: 'assistant', content: 'Done.' }, { role: 'user', content: 'Thanks' }];

for (const days of [30, 0]) {
  test(`a conversation's requests are one session, with its way through the models; history of ${days} days`, async (t) => {
    const upstream = await startUpstream(({ text }) =>
      text.includes('"bad"')
        ? jsonAnswer({ error: { message: 'no' } }, 400)
        : jsonAnswer({ ...chatReply('Hi.'), usage }),
    );
    t.teardown(upstream.close);
    const priced = { name: 'small', price: { input: 1, output: 1 } };
    const { baseUrl, stop } = await startGateway({
      LOG: false,
      HISTORY: { days },
      Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: [priced, 'large', 'bad'] }],
      Router: { default: 'p,small' },
    });
    t.teardown(stop);
    const send = async (id: string, model: string, messages: readonly object[]): Promise<void> => {
      const headers = { 'x-request-id': id };
      const body = JSON.stringify({ model, messages });
      await (await fetch(`${baseUrl}/v1/chat/completions`, { method: 'POST', headers, body })).text();
    };
    const read = async (path: string): Promise<string> => (await fetch(`${baseUrl}${path}`)).text();
    await send('one', 'any', [asked]);
    await send('two', 'any', looked);
    await send('three', 'p,large', goesOn);
    await send('other', 'any', [{ role: 'user', content: 'Hello' }]);
    await send('four', 'p,bad', goesOn);
    await send('five', 'any', goesOn);

    const { sessions, truncated }: SessionList = JSON.parse(await read('/api/sessions'));
    t.false(truncated);
    t.deepEqual(
      sessions.map(({ requests }) => requests),
      [5, 1],
    );
    const id = sessions[0]?.id ?? '';
    const text = await read(`/api/sessions/${id}`);
    const { session, requests }: SessionDetail = JSON.parse(text);
    t.notRegex(text, /private/);
    t.deepEqual(session, sessions[0]);
    t.deepEqual(
      requests.map((request) => request.id),
      ['one', 'two', 'three', 'four', 'five'],
    );
    const { turns, failed, tools, cost, unpriced, models } = session;
    t.deepEqual({ turns, failed, tools }, { turns: 2, failed: 1, tools: [{ name: 'read', calls: 2 }] });
    t.is(session.usage.input, 4_000_000);
    t.is(cost, 3 * 1_002_000_000);
    t.is(unpriced, 1);
    t.deepEqual(
      models.map(({ model, scenario, requests: times }) => `${model} ${scenario} ${times}`),
      ['small default 2', 'large explicit 1', 'bad explicit 1', 'small default 1'],
    );
    t.is((await fetch(`${baseUrl}/api/sessions/none`)).status, 404);
    t.is((await fetch(`${baseUrl}/api/sessions?limit=0`)).status, 400);
    t.is((await fetch(`${baseUrl}/api/sessions?from=x`)).status, 400);
    t.deepEqual(JSON.parse(await read('/api/sessions?to=1h')).sessions, []);
    if (days === 0) return;
    const page: HistoryPage = JSON.parse(await read(`/api/history?session=${id}`));
    t.is(page.requests.length, 5);
  });
}

test('U2 each span of time that the pages offer is one that the API takes', async (t) => {
  const { baseUrl, stop } = await startGateway({ LOG: false, Providers: [] });
  t.teardown(stop);
  t.true(spans.length > 3);
  for (const { value } of spans) {
    for (const path of ['/api/history', '/api/history/facets', '/api/sessions']) {
      const answer = await fetch(`${baseUrl}${path}?from=${value}`);
      t.is(answer.status, 200, `${path}?from=${value}: ${await answer.text()}`);
    }
  }
});

test('the list is filtered by exactly what the API documents', async (t) => {
  const { routes, stop } = await startGateway({ LOG: false, Providers: [] });
  t.teardown(stop);
  const { paths } = JSON.parse(JSON.stringify(await openApiDocument(routes, '1')));
  for (const path of ['facets', 'histogram', 'failures', 'sums']) {
    const names = paths[`/api/history/${path}`].get.parameters.map(({ name }: { name: string }) => name);
    t.deepEqual(names.filter((name: string) => !['bars', 'limit'].includes(name)).toSorted(), filterNames.toSorted());
  }
});

test('U3 sessions of agents are found behind any number of single requests: what filters acts before the limit', async (t) => {
  const upstream = await startUpstream(({ text }) =>
    text.includes('"bad"') ? jsonAnswer({ error: { message: 'no' } }, 400) : jsonAnswer(chatReply('Hi.')),
  );
  t.teardown(upstream.close);
  const { baseUrl, stop } = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['small', 'bad'] }],
    Router: { default: 'p,small' },
  });
  t.teardown(stop);
  const send = async (model: string, messages: readonly object[]): Promise<void> => {
    await (
      await fetch(`${baseUrl}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ model, messages }) })
    ).text();
  };
  await send('p,small', [asked]);
  await send('p,bad', looked);
  const singles = 220;
  for (let n = 0; n < singles; n += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, more) => send('p,small', [{ role: 'user', content: `Alone ${n + more}` }])),
    );
  }
  const list = async (query: string): Promise<SessionList> =>
    JSON.parse(await (await fetch(`${baseUrl}/api/sessions?limit=200&${query}`)).text());
  const all = await list('');
  t.is(all.sessions.length, 200);
  t.true(all.sessions.every(({ requests }) => requests === 1));
  for (const query of ['least=2', 'status=failed', 'text=READ', 'least=2&status=failed']) {
    const { sessions, single } = await list(query);
    t.deepEqual(
      sessions.map(({ requests }) => requests),
      [2],
      query,
    );
    t.is(single, query === 'least=2' ? singles : 0, query);
    t.is((await list(`text=${sessions[0]?.id}`)).sessions.length, 1);
  }
  t.is((await fetch(`${baseUrl}/api/sessions?status=ok`)).status, 400);
});
