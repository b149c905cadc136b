import { clientProtocols } from '../../protocols/index.ts';
import { formats } from '../../transformers/index.ts';
import type { ReplyContext } from '../model/context.ts';
import type { ModelEvent } from '../model/event.ts';
import { Losses } from '../model/loss.ts';
import type { ClientProtocol, UpstreamProtocol } from '../model/protocol.ts';
import { readSseRecords, sseText } from '../model/wire/sse.ts';
import type { SseRecord } from '../model/wire/sse-record.ts';
import { ToolNames } from '../model/wire/tool-names.ts';
import { formatEntries } from './targets/junctor.ts';
import { streamRecords } from './upstream/answers.ts';
import { askedModel, type Pair } from './wire.ts';

/** What one pair of formats costs, in microseconds of processor time per record of the provider's. */
export interface ConversionCost {
  readonly pair: Pair;
  /** One figure for each round. */
  readonly convertUs: readonly number[];
  /** `JSON.parse` of the same records, measured between the rounds of the conversion. */
  readonly parseUs: readonly number[];
}

/** How the measuring is done. */
interface ConvertOptions {
  /** Records of a stream. */
  readonly records: number;
  /** Streams of a round. */
  readonly streams: number;
  /** Records that arrive together. */
  readonly perChunk: number;
  readonly rounds: number;
}

/** Long enough for the compiler to settle, short enough for a coffee. */
export const plainConvertOptions: ConvertOptions = { records: 2_000, streams: 10, perChunk: 10, rounds: 9 };

/** The same for a look. */
export const quickConvertOptions: ConvertOptions = { records: 500, streams: 10, perChunk: 10, rounds: 5 };

interface Stream {
  readonly upstream: UpstreamProtocol;
  readonly chunks: readonly Uint8Array[];
  /** What there is to parse. */
  readonly data: readonly string[];
}

/**
 * Measures the conversion of streams alone, in this process: bytes → records → events → text for the client, for each pair. The rounds
 * of all pairs are interleaved, so that a busy machine slows them all. The first round only warms up.
 */
export const measureConversions = (
  pairs: readonly Pair[],
  options: ConvertOptions,
  progress: (round: number) => void = () => {},
): readonly ConversionCost[] => {
  const cases = pairs.flatMap((pair) => {
    const client = clientProtocols.find(({ protocol }) => protocol.wire === pair.client)?.protocol;
    return client ? [{ pair, client, stream: streamOf(pair, options), convertUs: [0], parseUs: [0] }] : [];
  });
  for (let round = 0; round <= options.rounds; round += 1) {
    progress(round);
    for (const { client, stream, convertUs, parseUs } of cases) {
      convertUs[round] = perRecordUs(stream, options.streams, () => convert(stream, client));
      parseUs[round] = perRecordUs(stream, options.streams, () => parse(stream));
    }
  }
  return cases.map(({ pair, convertUs, parseUs }) => ({
    pair,
    convertUs: convertUs.slice(1),
    parseUs: parseUs.slice(1),
  }));
};

const streamOf = ({ upstream: wire }: Pair, { records, perChunk }: ConvertOptions): Stream => {
  const entry = formatEntries[wire];
  const upstream = formats.get(entry.name)?.protocol({
    baseUrl: new URL('http://127.0.0.1'),
    options: { ...entry.options },
    model: askedModel,
    relays: undefined,
  });
  if (!upstream) throw new Error(`There is no format ${entry.name}.`);
  const { opening, deltas, closing } = streamRecords(wire, { deltas: records, deltaChars: 8, stamped: false });
  const all = [opening, ...deltas, closing];
  const starts = Array.from({ length: Math.ceil(all.length / perChunk) }, (_, chunk) => chunk * perChunk);
  return {
    upstream,
    chunks: starts.map((start) => Buffer.from(all.slice(start, start + perChunk).join(''))),
    data: all
      .join('')
      .split('\n')
      .flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : [])),
  };
};

const perRecordUs = ({ data }: Stream, times: number, work: () => void): number => {
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (data.length * times);
};

const context = (): ReplyContext => ({
  id: '0123456789abcdef01234567',
  startedAtMs: 1_700_000_000_000,
  nowMs: () => 1_700_000_002_500,
  request: { model: askedModel, system: [], turns: [], tools: [], stream: true },
  clientBody: {},
  model: askedModel,
  names: new ToolNames(),
  losses: new Losses('bench'),
  inputEstimate: 0,
});

/** What the pipeline does with each chunk, without the pipeline. */
const convert = ({ upstream, chunks }: Stream, client: ClientProtocol): void => {
  const own = context();
  const reading = readSseRecords.start(own);
  const decoding = upstream.decodeStream.start(own);
  const encoding = client.encodeStream.start(own);
  let written = 0;
  for (const chunk of chunks) {
    const records: SseRecord[] = [];
    reading.step(chunk, records);
    const events: ModelEvent[] = [];
    for (const record of records) decoding.step(record, events);
    const encoded: SseRecord[] = [];
    for (const event of events) encoding.step(event, encoded);
    // As the socket does, which wants the bytes.
    written += Buffer.byteLength(sseText(encoded));
  }
  if (written === 0) throw new Error('Nothing was written.');
};

const parse = ({ data }: Stream): void => {
  for (const one of data) JSON.parse(one);
};
