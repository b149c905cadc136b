import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { start } from '../../../engine/service/server.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

/** A request whose every tool would be dropped is refused in each protocol, and the message names the tools. */
const hi = [{ role: 'user', content: 'Hi.' }];
const refused = {
  '/v1/messages': { max_tokens: 9, messages: hi, tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  '/v1/chat/completions': { messages: hi, web_search_options: {}, stream: false },
  '/v1/responses': { input: 'Hi.', tools: [{ type: 'web_search' }] },
} as const;

test('a search that nobody can make is refused, and none is asked for', async (t) => {
  let calls = 0;
  const upstream = await startUpstream(() => {
    calls += 1;
    return jsonAnswer({});
  });
  const home = await mkdtemp(join(tmpdir(), 'junctor-'));
  const provider = { name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] };
  const transformers = [{ name: 'groq', provider: 'p' }];
  await writeFile(join(home, 'config.json'), JSON.stringify({ PORT: 0, Providers: [provider], transformers }));
  const service = await start({ env: {}, home, report: () => {} });
  const answers = await Promise.all(
    Object.entries(refused).map(async ([path, body]) => {
      const response = await fetch(`${service.baseUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'p,m', ...body }),
      });
      return { path, status: response.status, text: await response.text() };
    }),
  );
  await service.stop();
  await upstream.close();
  await rm(home, { recursive: true, force: true });
  for (const { path, status, text } of answers) {
    t.is(status, 400, `${path}: ${text}`);
    t.true(text.includes('web_search'), text);
  }
  t.is(calls, 0);
});
