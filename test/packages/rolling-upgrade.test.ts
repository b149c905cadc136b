import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { freePort } from '../../engine/http/bind.ts';
import { commandRig } from '../support/processes/command.ts';
import { startHaproxy } from '../support/processes/haproxy.ts';
import { isMissing } from '../support/processes/redis.ts';
import { chatStream } from '../support/upstreams/chat-stream.ts';
import { sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';

/** Streams at a time; the figure of the documentation is for 300. */
const clients = Number(process.env.JUNCTOR_UPGRADE_STREAMS ?? 15);

const key = 'administrator';
const withKey = { authorization: `Bearer ${key}` };

const answer = Array.from({ length: 20 }, (_, index) => `word-${index} `);

test('three gateways are replaced one after the other by SIGTERM alone, and no stream is lost', async (t) => {
  if (isMissing(t, 'haproxy', '-v')) return;
  t.timeout(240_000);
  const upstream = await startUpstream(() => sseAnswer(chatStream(answer, 100)));
  t.teardown(upstream.close);
  const start = async (port: number) => {
    const { begin } = await commandRig(t, {
      PORT: port,
      LOG: false,
      // This test calls from the proxy's address, to which the figures are open with a key only.
      APIKEY: key,
      PROXIES: ['127.0.0.1'],
      LIMITS: { requestsPerClient: 1_000 },
      TIMEOUTS: { leaveMs: 3_000, drainMs: 60_000 },
      Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }],
    });
    const service = begin(['start']);
    await service.says('listens on');
    return service;
  };
  const ports = await Promise.all([1, 2, 3].map(() => freePort('127.0.0.1')));
  const services = await Promise.all(ports.map(start));
  const url = await startHaproxy(t, ports);

  const stream = (agent: Agent): Promise<string> =>
    new Promise((resolve) => {
      const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers: withKey }, (response) => {
        let text = `${response.statusCode} `;
        response.setEncoding('utf8').on('data', (data) => {
          text += data;
        });
        response.once('error', (error) => resolve(`${text}${error.message}`));
        response.once('end', () => resolve(text));
      });
      sent.once('error', (error) => resolve(error.message));
      sent.end(JSON.stringify({ model: 'p,m', stream: true, messages: [{ role: 'user', content: 'hi' }] }));
    });
  const isWhole = (text: string): boolean =>
    text.startsWith('200 ') && answer.every((word) => text.includes(word)) && text.includes('[DONE]');
  let isReplaced = false;
  let whole = 0;
  const lost: string[] = [];
  let connections = 0;
  const run = async (): Promise<void> => {
    // Its connection to the balancer is kept for all its streams.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isReplaced) {
      const text = await stream(agent);
      if (isWhole(text)) whole += 1;
      else lost.push(text);
    }
    connections += Object.values(agent.freeSockets).flat().length;
    agent.destroy();
  };
  const running = Array.from({ length: clients }, run);
  const activeAt = async (port: number): Promise<number> => {
    const figures = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: withKey })).text();
    const active = /streams_active (\d+)/.exec(figures)?.[1];
    if (active === undefined) throw new Error(`/metrics has no streams_active: ${figures.slice(0, 200)}`);
    return Number(active);
  };
  /** The figures are long: asking for them again at once would take more than the streams do. */
  const isUsed = async (port: number): Promise<void> => {
    while (!((await activeAt(port)) > 0)) await wait(100);
  };
  for (const port of ports) await isUsed(port);
  for (const [index, service] of services.entries()) {
    const port = ports[index] ?? 0;
    service.child.kill('SIGTERM');
    t.is((await service.ended).code, 0);
    await start(port);
    // The balancer has seen it before the next one goes.
    await isUsed(port);
  }
  isReplaced = true;
  await Promise.all(running);
  t.log(`${whole} streams of ${clients} clients, ${lost.length} lost`);
  t.deepEqual(lost, []);
  t.true(whole >= 3 * clients);
  t.is(connections, clients, 'each client still has its connection');
});
