import type { ReplyContext } from '../../engine/model/context.ts';
import type { ModelEvent } from '../../engine/model/event.ts';
import type { ClientProtocol, SseRecord, UpstreamProtocol } from '../../engine/model/protocol.ts';
import { readSseRecords } from '../../engine/model/wire/sse.ts';
import { chatClient } from '../../protocols/chat/index.ts';
import { messagesClient } from '../../protocols/messages/index.ts';
import { responsesClient } from '../../protocols/responses/index.ts';
import { formats } from '../../transformers/index.ts';
import { replyContext } from '../support/context.ts';
import { recordsOf } from '../support/events.ts';
import { recordingsOf } from '../support/upstreams/recordings.ts';

/** What one pair of protocols costs, in microseconds of CPU time per record of the upstream's. */
export interface ConversionCost {
  /** The upstream's wire format. */
  readonly wire: string;
  /** What most of the streams' deltas are. */
  readonly content: Content;
  readonly client: string;
  /** One figure for each round. */
  readonly convertUs: readonly number[];
  /** `JSON.parse` of the same records, measured between the rounds of the conversion. */
  readonly parseUs: readonly number[];
}

type Content = 'text' | 'reasoning' | 'tools' | 'mixed';

/** How the measuring is done. */
interface ConvertOptions {
  /** Records of each stream, roughly. */
  readonly records: number;
  /** Records that arrive together. */
  readonly perChunk: number;
  readonly rounds: number;
}

/** Long enough for the compiler to settle, short enough for a coffee. */
export const plainConvertOptions: ConvertOptions = { records: 2_000, perChunk: 10, rounds: 9 };

/** The same for a look. */
export const quickConvertOptions: ConvertOptions = { records: 500, perChunk: 10, rounds: 5 };

interface Stream {
  readonly upstream: UpstreamProtocol;
  readonly chunks: readonly Uint8Array[];
  /** What there is to parse. */
  readonly data: readonly string[];
}

const clients: readonly ClientProtocol[] = [messagesClient, chatClient, responsesClient];

/**
 * Measures the conversion of streams alone, in this process: bytes → records → events → text for the client, for each pair of
 * protocols, over the recorded streams with their deltas repeated. The rounds of all pairs are interleaved, so that a busy
 * machine slows them all. The first round only warms up.
 */
export const measureConversions = (
  options: ConvertOptions,
  progress: (round: number) => void = () => {},
): readonly ConversionCost[] => {
  const cases = recordedStreams(options).flatMap(({ wire, content, streams }) =>
    clients.map((client) => ({ wire, content, client, streams, convertUs: [] as number[], parseUs: [] as number[] })),
  );
  for (let round = 0; round <= options.rounds; round += 1) {
    progress(round);
    for (const { client, streams, convertUs, parseUs } of cases) {
      const convertedUs = perRecordUs(streams, (stream) => convert(stream, client));
      const parsedUs = perRecordUs(streams, parse);
      if (round === 0) continue;
      convertUs.push(convertedUs);
      parseUs.push(parsedUs);
    }
  }
  return cases.map(({ streams: _measured, client, ...cost }) => ({ ...cost, client: client.wire }));
};

interface Group {
  readonly wire: string;
  readonly content: Content;
  readonly streams: Stream[];
}

/** The recordings by wire format and content. */
const recordedStreams = (options: ConvertOptions): readonly Group[] => {
  const groups = new Map<string, Group>();
  for (const [folder, formatName] of folders) {
    const format = formats.get(formatName);
    if (!format) throw new Error(`There is no format ${formatName}.`);
    const upstream = format.protocol({
      baseUrl: new URL('http://localhost'),
      options: folder === 'openai-responses' ? { api: 'responses' } : {},
      model: 'm',
      passes: undefined,
    });
    for (const { bytes } of recordingsOf(folder).filter(({ streamed, status }) => streamed && status === 200)) {
      const { stream, content } = lengthen(bytes, upstream, options);
      if (content === undefined) continue;
      const key = `${upstream.wire} ${content}`;
      const group = groups.get(key) ?? { wire: upstream.wire, content, streams: [] };
      group.streams.push(stream);
      groups.set(key, group);
    }
  }
  return [...groups.values()].sort((one, other) => (one.wire < other.wire ? -1 : 1));
};

/** Folders of recordings, and the format that reads them. */
const folders = [
  ['openai-chat', 'openai'],
  ['deepseek', 'deepseek'],
  ['groq', 'groq'],
  ['openrouter', 'openrouter'],
  ['anthropic', 'anthropic'],
  ['openai-responses', 'openai'],
  ['gemini', 'gemini'],
] as const;

/** A recorded stream whose runs of deltas are repeated, each as often as it takes. */
const lengthen = (
  bytes: Uint8Array,
  upstream: UpstreamProtocol,
  { records: wanted, perChunk }: ConvertOptions,
): { readonly stream: Stream; readonly content: Content | undefined } => {
  const decoding = upstream.decodeStream.start(replyContext());
  const counts = { text: 0, reasoning: 0, tools: 0 };
  const runs: { readonly records: SseRecord[]; readonly kind: Exclude<Content, 'mixed'> | undefined }[] = [];
  for (const record of recordsOf(bytes)) {
    const events: ModelEvent[] = [];
    decoding.step(record, events);
    const kinds = events.map(({ type }) => deltaContent[type]);
    const kind = kinds.length === 1 ? kinds[0] : undefined;
    if (kind) counts[kind] += 1;
    const run = runs.at(-1);
    if (run && run.kind === kind) run.records.push(record);
    else runs.push({ records: [record], kind });
  }
  const deltas = counts.text + counts.reasoning + counts.tools;
  const times = Math.max(1, Math.round(wanted / Math.max(1, deltas)));
  const records = runs.flatMap((run) =>
    Array<readonly SseRecord[]>(run.kind ? times : 1)
      .fill(run.records)
      .flat(),
  );
  const stream = {
    upstream,
    chunks: chunksOf(records, perChunk),
    data: records.map(({ data }) => data).filter(isJson),
  };
  return { stream, content: deltas < fewestDeltas ? undefined : contentOf(counts, deltas) };
};

/** Of a stream with fewer, the same few records would come over and over, which no vendor sends. */
const fewestDeltas = 6;

const deltaContent: Readonly<Partial<Record<ModelEvent['type'], 'text' | 'reasoning' | 'tools'>>> = {
  'text-delta': 'text',
  'thinking-delta': 'reasoning',
  'input-delta': 'tools',
};

const contentOf = ({ text, reasoning, tools }: Record<Exclude<Content, 'mixed'>, number>, deltas: number): Content => {
  if (text > 0.8 * deltas) return 'text';
  if (reasoning > 0.8 * deltas) return 'reasoning';
  return tools > 0.8 * deltas ? 'tools' : 'mixed';
};

const isJson = (data: string): boolean => data !== '[DONE]';

const chunksOf = (records: readonly SseRecord[], perChunk: number): readonly Uint8Array[] => {
  const texts = records.map(({ event, data }) => `${event === '' ? '' : `event: ${event}\n`}data: ${data}\n\n`);
  const starts = Array.from({ length: Math.ceil(texts.length / perChunk) }, (_, chunk) => chunk * perChunk);
  return starts.map((start) => Buffer.from(texts.slice(start, start + perChunk).join('')));
};

const perRecordUs = (streams: readonly Stream[], work: (stream: Stream) => void): number => {
  const records = streams.reduce((sum, { data }) => sum + data.length, 0);
  const before = process.cpuUsage();
  for (const stream of streams) work(stream);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / records;
};

const context = (): ReplyContext => replyContext();

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
    const texts: string[] = [];
    for (const event of events) encoding.step(event, texts);
    // As the socket does, which wants the bytes.
    written += Buffer.byteLength(texts.join(''));
  }
  if (written === 0) throw new Error('Nothing was written.');
};

const parse = ({ data }: Stream): void => {
  for (const one of data) JSON.parse(one);
};
