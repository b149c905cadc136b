import test, { type ExecutionContext } from 'ava';
import type { Json, JsonObject } from '../../engine/model/json/json.ts';
import type { ClientWire } from '../../engine/model/wire/client-wires.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { fitted, type RefusingHost } from '../support/hosts/refusing.ts';
import { refusingHosts, stubbornHosts } from '../support/hosts/refusing-hosts.ts';
import { lenientHosts, windowedHosts } from '../support/hosts/windowed-hosts.ts';
import { chatSdk, messagesSdk, responsesSdk, type SdkClient } from '../support/sdk-clients.ts';
import { until } from '../support/until.ts';
import type { ScriptedUpstream, UpstreamRequest } from '../support/upstreams/upstream.ts';

/** The real SDKs at hosts that refuse something: every protocol, streamed and not. */
const clients: Readonly<Record<ClientWire, { readonly sdk: SdkClient; readonly end: string; readonly tool: string }>> =
  {
    messages: { sdk: messagesSdk, end: 'end_turn', tool: 'tool_use' },
    chat: { sdk: chatSdk, end: 'stop', tool: 'tool_calls' },
    responses: { sdk: responsesSdk, end: 'completed', tool: 'completed' },
  };
const wires = ['messages', 'chat', 'responses'] as const;

/** A host, and a client that asks of it what it refuses. It has a provider of its own: what one is taught would serve the next. */
interface Cell {
  readonly name: string;
  readonly host: RefusingHost;
  readonly wire: ClientWire;
  readonly stream: boolean;
  readonly title: string;
  readonly provider: string;
}

type Hosts = Readonly<Record<string, RefusingHost>>;

const cellsOf = (hosts: Hosts, what: string): readonly Cell[] =>
  Object.entries(hosts).flatMap(([name, host]) =>
    wires
      .filter((wire) => host.asks[wire])
      .flatMap((wire) =>
        [false, true].map((stream) => {
          const title = `${wire}${stream ? ' stream' : ''}, ${name}: ${what}`;
          return { name, host, wire, stream, title, provider: title.replaceAll(/[^a-z0-9]+/g, '-') };
        }),
      ),
  );

const loops = cellsOf({ ...refusingHosts, ...windowedHosts }, 'a tool loop');
const growing = cellsOf({ ...windowedHosts, ...lenientHosts }, 'a conversation that grows');
const overlong = cellsOf({ ...windowedHosts, ...lenientHosts }, 'a prompt that does not fit');
const stubborn = cellsOf(stubbornHosts, 'its words');
const cells = [...loops, ...growing, ...overlong, ...stubborn];

let gateway: TestGateway;
let upstreams: Readonly<Record<string, ScriptedUpstream>> = {};

test.before(async () => {
  const hosts: Hosts = { ...refusingHosts, ...windowedHosts, ...lenientHosts, ...stubbornHosts };
  const served = Object.entries(hosts).map(async ([name, { serve }]) => [name, await serve('key')] as const);
  upstreams = Object.fromEntries(await Promise.all(served));
  const config = {
    RETRY: { attempts: 0 },
    LOG: false,
    Providers: cells.map(({ name, host, provider }) => ({
      name: provider,
      baseUrl: `${upstreams[name]?.url}${host.provider.base ?? ''}`,
      apiKey: 'key',
      models: [host.provider.model],
    })),
    transformers: cells.map(({ host, provider }) => {
      const { format, options } = host.provider;
      return { name: format, provider, ...(options && { options }) };
    }),
  };
  // Behind a first keep-alive, a fault is no status anymore.
  gateway = await startGateway(config, {}, { keepAliveMs: 600_000 });
});

test.after.always('stop', async () => {
  await gateway?.stop();
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.close()));
});

const talk = ({ host, wire, stream, title, provider }: Cell) => {
  const { body = {}, headers } = host.asks[wire] ?? {};
  const question = { stream, tools: ['get_weather'], more: body, headers: { ...headers, 'x-request-id': provider } };
  const conversation = clients[wire].sdk(gateway.baseUrl, `${provider},${host.provider.model}`);
  return {
    ask: (text: string) => conversation.ask({ ...question, text: `${text} (${title})` }),
    give: (result: string) => conversation.give([result], { ...question, text: '' }),
  };
};

const sentTo = ({ name, title }: Cell): readonly UpstreamRequest[] =>
  upstreams[name]?.requests.filter(({ text }) => text.includes(`(${title})`)) ?? [];

for (const cell of loops) {
  const { host, wire, title, provider } = cell;
  test(title, async (t) => {
    const { model } = host.provider;
    const { end, tool } = clients[wire];
    const { ask, give } = talk(cell);
    const asked = await ask('use the tool');
    const told = await give('sunny');
    t.like(asked, { text: 'Wait.', stop: tool, model: `${model}-0001` });
    t.like(asked.calls, [{ name: 'get_weather', input: { city: 'Łódź' } }]);
    t.like(told, { text: 'The tools said: sunny', calls: [], stop: end });

    const sent = sentTo(cell);
    t.deepEqual(sent.map(host.refuses), [true, false, false], 'one refusal, and it is remembered');
    const changed = differences(leavesOf(sent[0]?.body), leavesOf(sent[1]?.body), 'output limit' in host.becomes);
    t.deepEqual(Object.keys(changed).sort(), Object.keys(host.becomes).sort());
    for (const [path, value] of Object.entries(host.becomes)) {
      if (value === fitted) t.true(Number(changed[path]) > 0, `${path}: ${changed[path]}`);
      else t.is(changed[path], value, path);
    }

    if (host.isLossless) return;
    const { body, headers } = host.asks[wire] ?? {};
    const question = { model: `${provider},${model}`, max_tokens: 99, ...turnOf[wire], ...body };
    const explained = await call('/api/explain', { client: wire, body: question, headers });
    t.false(host.refuses({ body: explained.body, headers: Object(explained.headers) }));
    const { losses } = Object(await summaryOf(cell));
    for (const lost of [losses, explained.losses]) namesLoss(t, lost, cell);
  });
}

for (const cell of growing) {
  test(cell.title, async (t) => {
    const { ask, give } = talk(cell);
    await ask('use the tool');
    const long = 'It is sunny in Łódź, 21 °C. '.repeat(400);
    t.is((await give(long)).text, `The tools said: ${long}`);
    await ask(`use the tool ${'again and again '.repeat(300)}`);
    t.is((await give('sunny')).text, 'The tools said: sunny');
    const refused = sentTo(cell).filter(cell.host.refuses);
    t.true(refused.length <= (cell.name in lenientHosts ? 0 : 2), `${refused.length} refusals`);
  });
}

for (const cell of overlong) {
  test(cell.title, async (t) => {
    const { ask } = talk(cell);
    const { message } = await failure(ask('word '.repeat(60_000)));
    const { fault } = Object(await summaryOf(cell));
    t.is(Object(fault).kind, 'upstream-context', message);
    if (cell.wire === 'messages') t.regex(message, /prompt is too long/);
    t.is(sentTo(cell).length, 1);
  });
}

for (const cell of stubborn) {
  test(cell.title, async (t) => {
    const { ask } = talk(cell);
    for (const { message, sent } of cell.host.refusals ?? []) {
      const given = await failure(ask('say hello'));
      t.true(given.message.includes(message), given.message);
      t.is(sentTo(cell).length, sent);
    }
  });
}

const turnOf: Readonly<Record<ClientWire, JsonObject>> = {
  messages: { messages: [{ role: 'user', content: 'Hi.' }] },
  chat: { messages: [{ role: 'user', content: 'Hi.' }] },
  responses: { input: 'Hi.' },
};

const call = async (path: string, body?: object): Promise<Record<string, unknown>> => {
  const answer = await fetch(`${gateway.baseUrl}${path}`, body && { method: 'POST', body: JSON.stringify(body) });
  // The answer's shape is what the tests are about.
  return (await answer.json()) as Record<string, unknown>;
};

/** The record of its last request. */
const summaryOf = async ({ provider }: Cell): Promise<unknown> => {
  let summary: unknown;
  // A record is there once the answer has ended.
  await until(async () => {
    ({ summary } = await call(`/api/requests/${provider}`));
    return summary !== undefined;
  });
  return summary;
};

const failure = async (answer: Promise<unknown>): Promise<Error> => {
  const error: unknown = await answer.catch((reason: unknown) => reason);
  return error instanceof Error ? error : new Error('there was an answer');
};

/** What was lost is named as the client spells it. */
const namesLoss = (
  t: ExecutionContext,
  losses: readonly { readonly field?: string; readonly path?: string }[],
  { host, wire }: Cell,
): void => {
  const { body = {}, headers = {} } = host.asks[wire] ?? {};
  const own = [...Object.keys(body), ...Object.keys(headers)];
  const named = losses.map(({ field, path = field ?? '' }) => path);
  t.true(
    named.some((path) => own.some((name) => path.split(/[.[:]/, 1)[0] === name)),
    `${own}: ${named}`,
  );
};

type Leaves = ReadonlyMap<string, Json>;

/** The values in a body, by their paths. */
const leavesOf = (value: unknown): Leaves => {
  const found = new Map<string, Json>();
  const visit = (one: unknown, path: string): void => {
    if (typeof one === 'object' && one !== null) {
      for (const [name, inner] of Object.entries(one)) visit(inner, path === '' ? name : `${path}.${name}`);
    } else found.set(path, one as Json);
  };
  visit(value, '');
  return found;
};

/** The values that differ, by their paths: all else is untouched. */
const differences = (before: Leaves, after: Leaves, anyLimit: boolean): Readonly<Record<string, unknown>> => {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  const limits = /^(?:generationConfig\.)?(?:max_(?:completion_|output_)?tokens|maxOutputTokens)$/;
  return Object.fromEntries(
    paths
      .filter((path) => before.get(path) !== after.get(path))
      .map((path) => [anyLimit && limits.test(path) ? 'output limit' : path, after.get(path)]),
  );
};
