import test from 'ava';
import { request } from 'undici';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { startGateway } from '../../support/gateway.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const body = {
  max_tokens: 99,
  tools: [
    { name: 'ToolSearch', input_schema: { type: 'object', properties: {} } },
    { name: 'DeferredToolPlaceholder', defer_loading: true, input_schema: { type: 'object', properties: {} } },
    { name: 'find', defer_loading: true, input_schema: { type: 'object', properties: {} } },
  ],
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'ToolSearch', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'tool_reference', tool_name: 'find' }] }],
    },
  ],
};

test('what only the client’s format has is expressed for another vendor, at each attempt, and passes to its own', async (t) => {
  const bodies: JsonObject[] = [];
  const upstream = await startUpstream(({ body: sent }) => {
    if (isJsonObject(sent)) bodies.push(sent);
    return bodies.length === 1 ? { status: 503 } : jsonAnswer(chatReply('ok'));
  });
  const gateway = await startGateway({
    LOG: false,
    Providers: [
      { name: 'other', baseUrl: upstream.url, apiKey: 'k', models: ['m'] },
      { name: 'own', baseUrl: `${upstream.url}/anthropic`, apiKey: 'k', models: ['m'] },
    ],
    transformers: [{ name: 'anthropic', provider: 'own' }],
  });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const ask = async (more: object, path = '/v1/messages') => {
    const answer = await request(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      body: JSON.stringify({ ...body, ...more }),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  };

  t.is((await ask({ model: 'other,m' })).status, 200);
  t.is(bodies.length, 2, 'a retry');
  for (const sent of bodies) {
    t.regex(JSON.stringify(sent.messages), /Found, and now available: find/);
    const names = JSON.stringify(sent.tools).match(/"name":"\w+"/g);
    t.deepEqual(names, ['"name":"ToolSearch"', '"name":"find"']);
  }
  await ask({ model: 'own,m' });
  t.deepEqual(bodies.at(-1), { ...body, model: 'm' });

  const refused = await ask({ model: 'other,m', mcp_servers: [{ type: 'url', url: 'https://h', name: 's' }] });
  t.is(refused.status, 400);
  t.regex(refused.text, /mcp_servers needs an upstream that speaks the messages format itself/);
  const unknown = { messages: [{ role: 'user', content: [{ type: 'x_task', task: 'do it' }] }] };
  const unread = await ask({ model: 'other,m', ...unknown });
  t.is(unread.status, 400);
  t.regex(unread.text, /messages\[0\]\.content\[0\]: this provider has no content of the type x_task/);

  const count = await ask({ model: 'other,m', max_tokens: undefined }, '/v1/messages/count_tokens');
  t.is(count.status, 200);
});
