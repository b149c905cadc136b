import { gzipSync } from 'node:zlib';
import { jsonAnswer, type Reaction, sseAnswer } from '../upstreams/upstream.ts';
import type { Wire } from './wires.ts';

/** A fault of an upstream, and the expected outcome. */
interface UpstreamFault {
  /** The id of the guarantee that it belongs to. */
  readonly line: 'R1' | 'R2' | 'R3' | 'R4';
  readonly play: (wire: Wire, streaming: boolean) => Reaction;
  /**
   * `answer`: the right answer all the same. A status: an error that has it. `error`: an error before or after the first byte.
   * `broken`: an answer that has begun when the client streams, and then one error.
   */
  readonly comesTo: 'answer' | 'error' | 'broken' | number;
}

/** The text of a good response, in streamed pieces. */
const goodTexts = ['one ', 'grüße ', '👋 ', 'three'];
export const goodText = goodTexts.join('');

const stream = (wire: Wire): string => wire.stream(goodTexts).join('');
/** A good stream up to its second word. */
const begun = (wire: Wire): string =>
  wire
    .stream(goodTexts)
    .slice(0, wire.headRecords + 2)
    .join('');
const sse = { 'content-type': 'text/event-stream' };
const json = { 'content-type': 'application/json' };
const html = { 'content-type': 'text/html; charset=utf-8' };

/** The good response in the requested form, with its text changed. */
const framed =
  (change: (text: string) => string): UpstreamFault['play'] =>
  (wire, streaming) =>
    streaming ? sseAnswer([change(stream(wire))]) : jsonAnswer(wire.reply(goodText));

/** The good response in the requested form, with another status. */
const withStatus =
  (status: number): UpstreamFault['play'] =>
  (wire, streaming) => ({ ...(streaming ? sseAnswer([stream(wire)]) : jsonAnswer(wire.reply(goodText))), status });

/** The good response in the requested form, its first bytes in pieces of one each. */
const marked: UpstreamFault['play'] = (wire, streaming) => {
  const bytes = Buffer.from(`\ufeff${streaming ? stream(wire) : JSON.stringify(wire.reply(goodText))}`);
  const first = [...bytes.subarray(0, 4)].flatMap((byte) => [Uint8Array.of(byte), 5]);
  return { headers: streaming ? sse : json, pieces: [...first, bytes.subarray(4)] };
};

const compressed =
  (change: (bytes: Buffer) => Buffer, coding = 'gzip'): UpstreamFault['play'] =>
  (wire, streaming) => ({
    headers: { ...(streaming ? sse : json), 'content-encoding': coding },
    pieces: [change(gzipSync(streaming ? stream(wire) : JSON.stringify(wire.reply(goodText))))],
  });

/** A stream that fails after its second word; a plain response that fails in its middle. */
const breaking =
  (finish: 'end' | 'stall' | 'close' | 'reset', more = ''): UpstreamFault['play'] =>
  (wire, streaming) =>
    streaming
      ? sseAnswer([begun(wire) + more], finish)
      : { headers: json, pieces: [JSON.stringify(wire.reply(goodText)).slice(0, 40)], finish };

/** Each record's data over several lines. */
const manyLines = (text: string): string =>
  text.replace(/^data: (\{.*\})$/gm, (_, data: string) =>
    JSON.stringify(JSON.parse(data), null, 1).replace(/^/gm, 'data: '),
  );

/** All faults by what the upstream does. */
export const upstreamFaults: Readonly<Record<string, UpstreamFault>> = {
  'resets before it answers': { line: 'R1', comesTo: 502, play: () => 'reset' },
  'closes before it answers': { line: 'R1', comesTo: 502, play: () => 'close' },
  'talks nonsense instead of HTTP': { line: 'R1', comesTo: 502, play: () => ({ raw: 'I am no server\r\n\r\n' }) },
  'never answers': { line: 'R2', comesTo: 504, play: () => 'never' },
  'stalls behind its head': {
    line: 'R2',
    comesTo: 504,
    play: (_, streaming) => ({ headers: streaming ? sse : json, finish: 'stall' }),
  },
  'stalls mid-stream': { line: 'R2', comesTo: 'broken', play: breaking('stall') },
  'is reset mid-stream': { line: 'R3', comesTo: 'broken', play: breaking('reset') },
  'closes mid-stream': { line: 'R3', comesTo: 'broken', play: breaking('close') },
  'ends too early': { line: 'R3', comesTo: 'broken', play: breaking('end') },
  'ends inside a record': { line: 'R3', comesTo: 'broken', play: breaking('end', 'data: {"wh') },
  'answers with a web page': {
    line: 'R4',
    comesTo: 502,
    play: () => ({ headers: html, pieces: ['<html>Welcome</html>'] }),
  },
  'answers with a web page that says it is something else': {
    line: 'R4',
    comesTo: 502,
    play: (_, streaming) => ({ headers: streaming ? sse : json, pieces: ['<!doctype html><html>Welcome</html>'] }),
  },
  'fails with a web page': {
    line: 'R4',
    comesTo: 502,
    play: () => ({ status: 502, headers: html, pieces: ['<h1>Bad gateway</h1>'] }),
  },
  'answers with nothing': { line: 'R4', comesTo: 502, play: () => ({ headers: json }) },
  'answers with nothing, without a type': { line: 'R4', comesTo: 502, play: () => ({}) },
  'streams nothing': { line: 'R4', comesTo: 502, play: () => sseAnswer([]) },
  'streams comments alone': { line: 'R4', comesTo: 502, play: () => sseAnswer([': still here\n\n']) },
  'answers with broken JSON': { line: 'R4', comesTo: 502, play: () => ({ headers: json, pieces: ['{"id": '] }) },
  'answers with JSON of another kind': { line: 'R4', comesTo: 502, play: () => jsonAnswer(['what']) },
  'wraps an error in a 200': {
    line: 'R4',
    comesTo: 'error',
    play: ({ error }) => jsonAnswer(error('wrapped trouble', 503)),
  },
  'streams an error first': {
    line: 'R4',
    comesTo: 'error',
    play: ({ errorRecord }) => sseAnswer([errorRecord('early trouble')]),
  },
  'streams an error amid its words': {
    line: 'R4',
    comesTo: 'broken',
    play: (wire) => sseAnswer([begun(wire), 20, wire.errorRecord('late trouble')]),
  },
  'streams nonsense after a good start': {
    line: 'R4',
    comesTo: 'broken',
    play: (wire) => sseAnswer([begun(wire), 'data: {"what\n\n']),
  },
  'answers JSON to a stream request': {
    line: 'R4',
    comesTo: 'answer',
    play: (wire) => jsonAnswer(wire.reply(goodText)),
  },
  'streams to a plain request': { line: 'R4', comesTo: 'answer', play: (wire) => sseAnswer([stream(wire)]) },
  'names no type': {
    line: 'R4',
    comesTo: 'answer',
    play: (wire, streaming) => ({ pieces: [streaming ? stream(wire) : JSON.stringify(wire.reply(goodText))] }),
  },
  'compresses its answer': { line: 'R4', comesTo: 'answer', play: compressed((bytes) => bytes) },
  'breaks its compression': {
    line: 'R4',
    comesTo: 'error',
    play: compressed((bytes) => bytes.fill(0xaa, 20, bytes.length - 10)),
  },
  'says that it compressed what it did not': {
    line: 'R4',
    comesTo: 502,
    play: (wire, streaming) => ({
      headers: { ...(streaming ? sse : json), 'content-encoding': 'gzip' },
      pieces: [streaming ? stream(wire) : JSON.stringify(wire.reply(goodText))],
    }),
  },
  'compresses in an unknown way': { line: 'R4', comesTo: 502, play: compressed((bytes) => bytes, 'squash') },
  'begins with a byte order mark': { line: 'R4', comesTo: 'answer', play: marked },
  'marks the JSON that it sends as a stream': {
    line: 'R4',
    comesTo: 'error',
    play: ({ error }) => sseAnswer([`\ufeff${JSON.stringify(error('marked trouble', 503))}`]),
  },
  'sends a list with its reply': {
    line: 'R4',
    comesTo: 'answer',
    play: (wire, streaming) => (streaming ? sseAnswer([stream(wire)]) : jsonAnswer([wire.reply(goodText)])),
  },
  'says that it created its answer': { line: 'R4', comesTo: 'answer', play: withStatus(201) },
  'says that its content is to be reset': { line: 'R4', comesTo: 'answer', play: withStatus(205) },
  'says that its content is a part': { line: 'R4', comesTo: 'answer', play: withStatus(206) },
  'says that there is no content': { line: 'R4', comesTo: 502, play: () => ({ status: 204 }) },
  'ends lines in CR LF': { line: 'R4', comesTo: 'answer', play: framed((text) => text.replaceAll('\n', '\r\n')) },
  'ends lines in CR': { line: 'R4', comesTo: 'answer', play: framed((text) => text.replaceAll('\n', '\r')) },
  'comments between its records': {
    line: 'R4',
    comesTo: 'answer',
    play: framed((text) => `: hello\n\n${text.replaceAll('\n\n', '\n: amid\n\n: between\n\n')}`),
  },
  'spreads records over lines': { line: 'R4', comesTo: 'answer', play: framed(manyLines) },
  'leaves out the last empty line': { line: 'R4', comesTo: 'answer', play: framed((text) => text.slice(0, -1)) },
  'leaves out the last line end': { line: 'R4', comesTo: 'answer', play: framed((text) => text.slice(0, -2)) },
};
