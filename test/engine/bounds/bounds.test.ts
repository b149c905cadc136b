import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import test from 'ava';
import { faultClients } from '../../support/faults/clients.ts';
import {
  modelOf,
  providersAt,
  type Wire,
  type WireName,
  wantsStream,
  wireNames,
  wires,
} from '../../support/faults/wires.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import {
  type Reaction,
  type ScriptedUpstream,
  sseAnswer,
  startUpstream,
  type UpstreamRequest,
} from '../../support/upstreams/upstream.ts';

/** What a peer that goes beyond each bound on an upstream's answer comes to, for every pair of client and upstream. */
const mostBytes = 256 * 1024;
const piece = 'x'.repeat(16 * 1024);

const endless = function* (head: string, more: string): Iterable<string> {
  yield head;
  for (;;) yield more;
};

const json = { 'content-type': 'application/json' };

const head = (wire: Wire): string => wire.stream(['x']).slice(0, wire.headRecords).join('');

const large = Buffer.alloc(2 * 1024 * 1024, 'x');

/** 2 MiB in few bytes. */
const bombs = {
  gzip: gzipSync(large),
  deflate: deflateSync(large),
  br: brotliCompressSync(large, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  // Blocks that each repeat one byte 128 KiB times. Source: RFC 8878, section 3.1.1.
  zstd: Buffer.from([
    ...[0x28, 0xb5, 0x2f, 0xfd, 0, 0x38],
    ...Array.from({ length: 16 }, () => [0x02, 0x00, 0x10, 0x20]).flat(),
  ]),
};

const compressed = (coding: keyof typeof bombs): Excess => ({
  names: /LIMITS\.decompressedReplyBytes/,
  // An upstream that has more to come isn't let go because it has ended.
  play: () => ({ headers: { ...json, 'content-encoding': coding }, pieces: [bombs[coding]], finish: 'stall' }),
});

interface Excess {
  /** The setting that the fault names; absent where the upstream's own status is what the client gets. */
  readonly names?: RegExp;
  readonly play: (wire: Wire) => Reaction;
  /** Asks that it makes no sense for. */
  readonly skip?: (ask: { readonly stream: boolean; readonly passThrough: boolean }) => boolean;
}

const excesses: Readonly<Record<string, Excess>> = {
  'a record without end': {
    names: /LIMITS\.(recordBytes|replyBytes)/,
    play: (wire) => sseAnswer(endless(`${head(wire)}data: {"x":"`, piece)),
  },
  'a record of lines without end': {
    names: /LIMITS\.(recordBytes|replyBytes)/,
    play: (wire) => sseAnswer(endless(`${head(wire)}data: {`, `data: ${piece}\r\n`)),
  },
  'a stream without end': {
    names: /LIMITS\.replyBytes/,
    play(wire) {
      const records = wire.stream([piece]);
      return sseAnswer(endless(head(wire), records[wire.headRecords] ?? ''));
    },
    // Its bytes are collected nowhere.
    skip: ({ stream, passThrough }) => stream && passThrough,
  },
  'a reply without end': {
    names: /LIMITS\.replyBytes/,
    play: () => ({ headers: json, pieces: endless('{"x":"', piece) }),
  },
  'an error without end': {
    play: () => ({ status: 500, headers: json, pieces: endless('{"error":{"message":"', piece) }),
  },
  'a bomb of gzip': compressed('gzip'),
  'a bomb of deflate': compressed('deflate'),
  'a bomb of brotli': compressed('br'),
  'a bomb of zstd': compressed('zstd'),
};

let gateway: TestGateway;
const upstreams = new Map<WireName, ScriptedUpstream>();
/** The requests that upstreams got, by the model's name. */
const asked = new Map<string, UpstreamRequest>();

test.before(async () => {
  for (const wire of wireNames) {
    const upstream = await startUpstream((request) => {
      const model = modelOf(request);
      asked.set(`${wire} ${model} ${wantsStream(request)}`, request);
      return excesses[model.replace(/ for .*/, '')]?.play(wires[wire]) ?? 'close';
    });
    upstreams.set(wire, upstream);
  }
  gateway = await startGateway({
    LOG: false,
    RETRY: { attempts: 0 },
    BREAKER: { faults: 1_000_000 },
    LIMITS: { recordBytes: mostBytes, replyBytes: mostBytes, decompressedReplyBytes: mostBytes },
    ...providersAt((wire) => upstreams.get(wire)?.url ?? ''),
  });
});

test.after.always(async () => {
  await gateway?.stop();
  await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
});

for (const client of faultClients) {
  for (const wire of wireNames) {
    for (const [what, { names, skip }] of Object.entries(excesses)) {
      for (const stream of [true, false]) {
        if (skip?.({ stream, passThrough: client.name === wire })) continue;
        test(`${client.path} ← ${wire} with ${what} (${stream ? 'streamed' : 'whole'})`, async (t) => {
          const model = `${what} for ${client.name}`;
          const answer = await fetch(`${gateway.baseUrl}${client.path}`, {
            method: 'POST',
            headers: json,
            body: JSON.stringify({ ...client.ask, model: `${wire},${model}`, stream }),
          });
          const text = await answer.text();
          if (answer.status === 200) {
            t.true(stream, text.slice(0, 500));
            // A stream that passes untouched may hold half a record before the error.
            if (client.name !== wire) {
              const { errors, ends } = client.tally(text);
              t.deepEqual([errors.length, ends], [1, 0], text.slice(-500));
            }
          } else t.is(answer.status, names ? 502 : 500, text.slice(0, 500));
          if (names) t.regex(text.slice(-2_000), names);
          else t.true(text.length < 8_000, `${text.length}`);
          // The upstream is let go.
          await asked.get(`${wire} ${model} ${stream}`)?.closed;
        });
      }
    }
  }
}
