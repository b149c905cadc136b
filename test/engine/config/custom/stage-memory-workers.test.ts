import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { commandRig } from '../../../support/processes/command.ts';
import { connectToWorkers, type WorkerConnection } from '../../../support/processes/workers.ts';
import { until } from '../../../support/until.ts';
import { chatReply } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';
import { adminKey } from '../../features/clients/rig.ts';

const headers = { 'x-api-key': adminKey };

const module = `import { answer, lastText, transformer } from 'junctor/transformer';
  export default transformer({ name: 'remembers', async around(request, next, context) {
    const text = lastText(request);
    if (text === 'add') return answer(String(await context.memory.add('n', 1, { ms: 86_400_000 })));
    if (text === 'ask') return answer((await context.ask('p,m', 'q', { key: 'k' })).text);
    if (text !== 'get') context.memory.set('text', text, { ms: 600_000 });
    return answer(String(await context.memory.get('text')));
  } });`;

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

test('what a stage remembers, counts and has asked is the same in all processes of a service', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('asked')));
  t.teardown(upstream.close);
  const { home, begin } = await commandRig(t, {
    APIKEY: adminKey,
    WORKERS: 2,
    LOG: false,
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
    transformers: [{ path: 'remembers.ts', models: ['own'], ask: ['p,m'] }],
  });
  await writeFile(join(home, 'remembers.ts'), module);
  const service = begin(['start']);
  await service.says('listens on');
  const [, baseUrl = ''] = /(http:\S+)/.exec(service.out()) ?? [];
  const [one, two] = await connectToWorkers(t, baseUrl, 2, headers);
  const tell = async ({ fetch }: WorkerConnection, content: string): Promise<string> => {
    const body = { model: 'p,own', messages: [{ role: 'user', content }] };
    const { text } = await fetch('/v1/chat/completions', { method: 'POST', headers, body });
    return String(Object(JSON.parse(text)).choices?.[0]?.message?.content ?? text);
  };

  t.is(await tell(one, 'kept by the first'), 'kept by the first');
  await until(async () => (await tell(two, 'get')) === 'kept by the first');
  await tell(two, 'kept by the second');
  await until(async () => (await tell(one, 'get')) === 'kept by the second');

  const added = [0, 0];
  const add = async (at: 0 | 1): Promise<boolean> => {
    added[at] = (added[at] ?? 0) + 1;
    return (await tell(at === 0 ? one : two, 'add')) === String(sumOf(added));
  };
  await add(0);
  await add(0);
  // Each process knows its own share at once, and that of the other a moment later.
  await until(() => add(1));
  await until(() => add(0));

  await tell(one, 'ask');
  const asked = upstream.requests.length;
  await until(async () => {
    const before = upstream.requests.length;
    return (await tell(two, 'ask')) === 'asked' && upstream.requests.length === before;
  });
  t.is(asked, 1);
  t.true(upstream.requests.length <= 2);
});
