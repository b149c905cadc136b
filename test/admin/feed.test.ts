import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { chooseServer } from '../../engine/http/choose-server.ts';
import type { HttpRequest } from '../../engine/http/endpoint.ts';
import { dataOf } from '../../engine/http/endpoint.ts';
import { Backpressure } from '../../engine/runtime/backpressure.ts';
import { MemoryBudget } from '../../engine/runtime/memory-budget.ts';
import { startGateway } from '../support/gateway.ts';
import { addressIn, commandRig } from '../support/processes/command.ts';
import { connectToWorkers } from '../support/processes/workers.ts';
import { until } from '../support/until.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';

const adminKey = 'the-key-of-the-administrator';

const configOf = (url: string) => ({
  PORT: 0,
  LOG: false,
  Providers: [{ name: 'p', baseUrl: `${url}/v1`, apiKey: 'k', models: ['m'] }],
  Router: { default: 'p,m' },
});

const upstreamFor = async (t: ExecutionContext) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('Hello.')));
  t.teardown(upstream.close);
  return upstream;
};

const body = JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }] });

const send = async (baseUrl: string, id: string): Promise<void> => {
  const headers = { 'x-request-id': id };
  await (await fetch(`${baseUrl}/v1/chat/completions`, { method: 'POST', headers, body })).text();
};

/** A feed, and what it has sent so far. */
class OpenFeed {
  #text = '';
  isOver = false;

  constructor(answer: IncomingMessage) {
    answer.setEncoding('utf8').on('data', (text) => {
      this.#text += text;
    });
    answer.once('end', () => {
      this.isOver = true;
    });
    answer.once('error', () => undefined);
  }

  static async open(t: ExecutionContext, url: string, headers = {}): Promise<OpenFeed> {
    const asked = get(url, { headers, agent: false });
    t.teardown(() => asked.destroy());
    asked.once('error', () => undefined);
    const [answer]: IncomingMessage[] = await once(asked, 'response');
    t.is(answer?.headers['content-type'], 'text/event-stream; charset=utf-8');
    if (!answer) throw new Error('There is no answer.');
    return new OpenFeed(answer);
  }

  /** The data of events of this type. */
  of(type: string) {
    return this.#text.split('\n\n').flatMap((record) => {
      const [event, data] = record.split('\n');
      return event === `event: ${type}` && data ? [JSON.parse(data.slice('data: '.length))] : [];
    });
  }

  /** The ids of each list of requests. */
  ids(): readonly string[] {
    return this.of('requests').map(({ whole, requests }) =>
      [whole ? 'all' : 'new', ...requests.map(({ id }: { id: string }) => id)].join(' '),
    );
  }
}

for (const server of ['uws', 'node']) {
  test(`the feed begins with the whole state and sends what is new, and ends when the service stops: ${server}`, async (t) => {
    const upstream = await upstreamFor(t);
    const { baseUrl, stop } = await startGateway(configOf(upstream.url), {}, { server: chooseServer(server) });
    t.teardown(stop);
    await send(baseUrl, 'one');
    const feed = await OpenFeed.open(t, `${baseUrl}/api/feed?topics=requests,activity&minutes=10`);
    await until(() => feed.of('traffic').length > 0);
    t.deepEqual(feed.ids(), ['all one']);
    t.is(feed.of('activity')[0].lines[0].model, 'm');
    t.is(feed.of('traffic')[0].traffic.steps.length, 120);
    await send(baseUrl, 'two');
    await until(() => feed.ids().length > 1);
    t.deepEqual(feed.ids(), ['all one', 'new two']);
    await fetch(`${baseUrl}/api/capture`, { method: 'POST', body: '{"on":true}' });
    await until(() => feed.of('requests').at(-1).capture.on);
    for (const query of ['topics=all', 'minutes=61', 'topics=log&file=no.log']) {
      const answer = await fetch(`${baseUrl}/api/feed?${query}`);
      t.is(answer.status, query.includes('file') ? 404 : 400, query);
      await answer.text();
    }
    const stopped = stop();
    await until(() => feed.isOver);
    await stopped;
  });
}

test('a log that grows is told by its size', async (t) => {
  const upstream = await upstreamFor(t);
  const { baseUrl, home, stop } = await startGateway({ ...configOf(upstream.url), LOG: true });
  t.teardown(stop);
  const feed = await OpenFeed.open(t, `${baseUrl}/api/feed?topics=log`);
  await until(() => feed.of('log').length > 0);
  const [{ file, size }] = feed.of('log');
  t.is(file, 'app.log');
  await appendFile(join(home, 'app.log'), '{"msg":"more"}\n');
  await until(() => feed.of('log').length > 1);
  t.true(feed.of('log').at(-1).size > size);
});

test('a client that does not read gets the state of when it reads again, not all that was before', async (t) => {
  const upstream = await upstreamFor(t);
  const { baseUrl, routes, stop } = await startGateway(configOf(upstream.url));
  t.teardown(stop);
  const route = routes.find(({ path }) => path === '/api/feed');
  const slow = new Backpressure();
  const events: string[] = [];
  const reading = route?.endpoint.handle(requestOf('topics=requests', slow), {}).subscribe((part) => {
    if (part.type === 'data') events.push(dataOf(part).toString());
  });
  t.teardown(() => reading?.unsubscribe());
  await until(() => events.length > 0);
  slow.pause();
  const other = await OpenFeed.open(t, `${baseUrl}/api/feed?topics=requests`);
  await until(() => other.ids().length > 0);
  for (const [index, id] of ['one', 'two', 'three'].entries()) {
    await send(baseUrl, id);
    await until(() => other.ids().length > index + 1);
  }
  t.is(events.length, 1);
  slow.resume();
  await until(() => events.length > 1);
  t.deepEqual(events[1]?.match(/"id":"\w+"/g), ['"id":"three"', '"id":"two"', '"id":"one"']);
});

const requestOf = (query: string, backpressure: Backpressure): HttpRequest => ({
  id: 'r',
  method: 'GET',
  path: '/api/feed',
  query,
  header: () => undefined,
  headers: {},
  remoteAddress: '127.0.0.1',
  body: new Uint8Array(),
  reservation: { takeValues: () => undefined },
  retainBody: () => undefined,
  answerMemory: new MemoryBudget().reserve(0),
  backpressure,
  onInterrupted: () => undefined,
  namedClient: undefined,
  startedAtMs: 0,
});

test('two processes: a feed of one has the requests of the other', async (t) => {
  const upstream = await upstreamFor(t);
  const { begin } = await commandRig(t, { ...configOf(upstream.url), APIKEY: adminKey, WORKERS: 2 });
  const service = begin(['start']);
  await service.says('listens on');
  const baseUrl = addressIn(service.out());
  const headers = { 'x-api-key': adminKey };
  const workers = await connectToWorkers(t, baseUrl, 2, headers);
  const feed = await OpenFeed.open(t, `${baseUrl}/api/feed?topics=requests`, headers);
  await until(() => feed.ids().length > 0);
  for (const [index, worker] of workers.entries()) {
    const sent = { method: 'POST', headers: { ...headers, 'x-request-id': `r${index}` }, body };
    t.is((await worker.fetch('/v1/chat/completions', sent)).status, 200);
  }
  await until(() => feed.ids().join().includes('r0') && feed.ids().join().includes('r1'));
  t.is((await fetch(`${baseUrl}/api/feed`)).status, 401);
});
