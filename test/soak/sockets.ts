import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { faultClients } from '../support/faults/clients.ts';
import { openSocket } from '../support/faults/socket-client.ts';
import { modelOf, wires } from '../support/faults/wires.ts';
import {
  messageItem,
  responseEvents,
  type SocketScript,
  startSocketUpstream,
} from '../support/upstreams/socket-upstream.ts';
import { sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';

const kinds = ['turn', 'upload', 'dead', 'relay', 'flood'] as const;
type Kind = (typeof kinds)[number];

/** What went as it should, by kind, and what didn't; the first hundred of these. */
interface SocketTallies extends Record<Kind, number> {
  readonly wrong: string[];
  wrongs: number;
}

/** Turns over WebSocket, slow uploads, paths that are gone, providers that stop, pings whose answers aren't read. */
interface SocketLoad {
  readonly tallies: Readonly<SocketTallies>;
  readonly end: () => Promise<void>;
  /** Goes on after an end. */
  readonly resume: () => void;
}

/** How many of each kind are at work among a hundred streams. */
const lanesOf: Readonly<Record<Kind, number>> = { turn: 20, upload: 10, dead: 4, relay: 4, flood: 1 };

/** How long a provider on HTTP may be silent, in milliseconds. */
const silenceMs = 2_000;

/** Within how long its error must have come, in milliseconds: the machine may be busy with other tests. */
const soonMs = 60_000;

/** How long the gateway may take to end a client that floods it, in milliseconds. */
const floodMs = 30_000;

/** Answers with the newest text. */
const echo: SocketScript = ({ body }, count) => {
  const text = String(body.input.at(-1)?.content);
  return { events: responseEvents(`resp_${count}`, [messageItem(String(count), text)]) };
};

/** Starts the providers that this load needs. */
export const startSocketVendors = async () => {
  const vendor = await startSocketUpstream({ script: echo });
  const gone = await startSocketUpstream({
    script: (asked, count) => {
      if (asked.over === 'http') return echo(asked, count);
      for (const socket of gone.open) socket.pause();
      return { events: [], ending: 'stall' };
    },
  });
  const silent = await startUpstream((asked) =>
    modelOf(asked) === 'mute' ? 'never' : sseAnswer(wires.chat.stream(['one ']).slice(0, 2), 'stall'),
  );
  const provider = (name: string, url: string) => ({
    name,
    baseUrl: `${url}/v1/responses`,
    apiKey: 'k',
    models: ['m'],
    webSocket: true,
  });
  return {
    providers: [
      provider('socket', vendor.url),
      provider('gone', gone.url),
      {
        name: 'silent',
        baseUrl: silent.url,
        apiKey: 'k',
        models: ['mute', 'stops'],
        timeouts: { firstByteMs: silenceMs, idleMs: silenceMs },
      },
    ],
    closeIdle: () => {
      vendor.closeSockets();
      silent.closeIdle();
    },
    close: () => Promise.all([vendor.close(), gone.close(), silent.close()]),
  };
};

/** Keeps all kinds at work, in proportion to so many streams, until it is told to end. */
export const startSocketLoad = (baseUrl: string, streams: number): SocketLoad => {
  const tallies: SocketTallies = { turn: 0, upload: 0, dead: 0, relay: 0, flood: 0, wrong: [], wrongs: 0 };
  let ending = false;
  let next = 0;
  const fail = (what: string): void => {
    tallies.wrongs += 1;
    if (tallies.wrong.length < 100) tallies.wrong.push(what);
  };
  const lane = async (kind: Kind, index: number): Promise<void> => {
    await wait(index * 50);
    while (!ending) {
      const id = next;
      next += 1;
      const wrong = await plays[kind](baseUrl, id).catch((error: unknown) => String(error));
      if (wrong === undefined) tallies[kind] += 1;
      else fail(`${kind}-${id}: ${wrong}`);
    }
  };
  const start = () =>
    Promise.all(
      kinds.flatMap((kind) =>
        Array.from({ length: Math.ceil((lanesOf[kind] * streams) / 100) }, (_, index) => lane(kind, index)),
      ),
    );
  let all = start();
  return {
    tallies,
    async end(): Promise<void> {
      ending = true;
      await all;
    },
    resume(): void {
      ending = false;
      all = start();
    },
  };
};

/** Asks over a connection of its own: what is wrong with the answers, if anything is. */
type Play = (baseUrl: string, id: number) => Promise<string | undefined>;

const open = async (baseUrl: string) => {
  const cleanUps: (() => void)[] = [];
  const client = await openSocket({ teardown: (act: () => void) => cleanUps.push(act) }, `${baseUrl}/v1/responses`);
  return {
    client,
    close: () => {
      for (const act of cleanUps) act();
    },
  };
};

const create = (model: string, text: string, more: object = {}) => ({
  type: 'response.create',
  model,
  store: false,
  input: [{ role: 'user', content: text }],
  ...more,
});

/** The end of an answer that says this text has it; anything else is wrong. */
const judge = (end: object | undefined, text: string): string | undefined => {
  const shown = JSON.stringify(end) ?? 'no end';
  return shown.includes('"response.completed"') && shown.includes(JSON.stringify(text))
    ? undefined
    : shown.slice(0, 300);
};

const turn: Play = async (baseUrl, id) => {
  const { client, close } = await open(baseUrl);
  try {
    let before: unknown;
    for (let count = 0; count < 5; count += 1) {
      const text = `turn ${id}-${count} grüße`;
      client.send(create('socket,m', text, count > 0 ? { previous_response_id: before } : {}));
      const end = (await client.answer()).at(-1);
      const wrong = judge(end, text);
      if (wrong !== undefined) return wrong;
      before = Object.assign({ id: undefined }, end?.response).id;
      await wait(100);
    }
    return undefined;
  } finally {
    close();
  }
};

/** Pieces of a body, with pauses of 100 ms. */
const slowly = async (body: string, send: (piece: string, isLast: boolean) => void): Promise<void> => {
  const size = 2_000;
  for (let at = 0; at < body.length; at += size) {
    await wait(100);
    send(body.slice(at, at + size), at + size >= body.length);
  }
};

/** Over WebSocket, or over HTTP. */
const upload: Play = async (baseUrl, id) => {
  const text = `upload ${id} ${'x'.repeat(30_000)}`;
  if (id % 2 === 0) {
    const { client, close } = await open(baseUrl);
    try {
      await slowly(JSON.stringify(create('socket,m', text)), (piece, fin) => client.socket.send(piece, { fin }));
      return judge((await client.answer()).at(-1), text);
    } finally {
      close();
    }
  }
  const answer = await new Promise<string>((resolve, reject) => {
    const asked = request(`${baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    asked.on('error', reject).on('response', (response) => {
      let got = '';
      response
        .setEncoding('utf8')
        .on('data', (piece: string) => {
          got += piece;
        })
        .on('end', () => resolve(got))
        .on('error', reject);
    });
    const { type: _, ...body } = create('socket,m', text, { stream: true });
    slowly(JSON.stringify(body), (piece) => asked.write(piece)).then(() => asked.end(), reject);
  });
  return answer.includes('response.completed') && answer.includes(text) ? undefined : answer.slice(-300);
};

/** The provider's connection stops: after 20 seconds, the request is made over HTTP. */
const dead: Play = async (baseUrl, id) => {
  const { client, close } = await open(baseUrl);
  try {
    const text = `dead ${id}`;
    client.send(create('gone,m', text));
    return judge((await client.answer()).at(-1), text);
  } finally {
    close();
  }
};

/** A provider that never answers, or stops in its answer: one error, soon. */
const relay: Play = async (baseUrl, id) => {
  const client = faultClients[id % faultClients.length];
  if (!client) return 'no client';
  const model = id % 2 === 0 ? 'mute' : 'stops';
  const fromMs = performance.now();
  const answer = await fetch(`${baseUrl}${client.path}`, {
    method: 'POST',
    body: JSON.stringify({ ...client.ask, model: `silent,${model}`, stream: true }),
  });
  const text = await answer.text();
  const spentMs = performance.now() - fromMs;
  const { ends, errors } = client.tally(text);
  const isRight = answer.status === 200 ? ends === 0 && errors.length === 1 : answer.status === 504;
  return isRight && spentMs < soonMs ? undefined : `${answer.status} after ${spentMs} ms: ${text.slice(-300)}`;
};

/** A ping with 125 bytes, masked with zeros. Source: RFC 6455, section 5.2. */
const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125)]);
const pings = Buffer.concat(Array.from({ length: 1_000 }, () => ping));

/** Pings without end, and reads no answer: it is disconnected. */
const flood: Play = (baseUrl) =>
  new Promise((resolve) => {
    const { hostname, port, host } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    const late = setTimeout(() => {
      socket.destroy();
      resolve(`not disconnected after ${socket.bytesWritten} bytes`);
    }, floodMs);
    const more = (): void => {
      while (!socket.destroyed && socket.write(pings));
    };
    socket
      .on('error', () => undefined)
      .on('drain', more)
      .on('close', () => {
        clearTimeout(late);
        resolve(undefined);
      })
      .once('data', (head) => {
        socket.pause();
        if (head.toString().startsWith('HTTP/1.1 101')) more();
        else {
          clearTimeout(late);
          socket.destroy();
          resolve(head.toString().slice(0, 100));
        }
      });
    socket.write(
      `GET /v1/responses HTTP/1.1\r\nhost: ${host}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`,
    );
  });

const plays: Readonly<Record<Kind, Play>> = { turn, upload, dead, relay, flood };
