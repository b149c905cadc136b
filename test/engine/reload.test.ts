import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { start } from '../../engine/service/server.ts';
import { until } from '../support/until.ts';

/** `RELIABILITY=full` asks for the bar's own size, which takes minutes. */
const [reloads, streams] = process.env.RELIABILITY === 'full' ? [1_000, 100] : [20, 30];

test(`R10 ${reloads} reloads under ${streams} streams: no request fails`, async (t) => {
  t.timeout(600_000);
  const home = mkdtempSync(join(tmpdir(), 'junctor-reload-'));
  writeFileSync(join(home, 'none'), '');
  const service = await start({ env: {}, home, port: 0, report: () => {} });
  t.teardown(async () => {
    await service.stop();
    rmSync(home, { recursive: true });
  });
  const { baseUrl } = service;
  const written = JSON.parse(await (await fetch(`${baseUrl}/api/config`)).text());
  let changing = true;
  let count = 0;
  const keepAsking = async (): Promise<void> => {
    while (changing) {
      const answer = await fetch(`${baseUrl}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'any', stream: true, messages: [{ role: 'user', content: 'Hello there!' }] }),
      });
      const text = await answer.text();
      if (answer.status !== 200 || !text.trimEnd().endsWith('data: [DONE]')) t.fail(`${answer.status} ${text}`);
      count += 1;
      // A pause, or the clients would take all of the machine that the changes are to run on.
      await wait(500);
    }
  };
  const asking = Array.from({ length: streams }, keepAsking);
  for (let change = 1; change <= reloads; change += 1) {
    // Every third change brings other waiting times, and so new connections.
    const TIMEOUTS = { idleMs: 120_000 + (change % 3) };
    const answer = await fetch(`${baseUrl}/api/config`, {
      method: 'POST',
      body: JSON.stringify({
        ...written,
        PORT: 0,
        TIMEOUTS,
        transformers: [{ name: 'maxtoken', options: { max_tokens: change } }],
      }),
    });
    const text = await answer.text();
    if (answer.status !== 200) t.fail(text);
  }
  changing = false;
  await Promise.all(asking);
  t.log(`${count} requests`);
  t.is(JSON.parse(readFileSync(join(home, 'config.json'), 'utf8')).transformers[0].options.max_tokens, reloads);
  const refused = await fetch(`${baseUrl}/api/config`, {
    method: 'POST',
    body: JSON.stringify({ transformers: ['nope'] }),
  });
  t.is(refused.status, 400);
  t.log(await refused.text());
  writeFileSync(join(home, 'config.json'), JSON.stringify({ ...written, APIKEY: 'k' }));
  // The file is watched.
  await until(async () => (await fetch(`${baseUrl}/api/config`)).status === 401);
  t.is((await fetch(`${baseUrl}/api/config`, { headers: { 'x-api-key': 'k' } })).status, 200);
});
