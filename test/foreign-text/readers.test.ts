import test from 'ava';
import { replaceMember } from '../../engine/model/json/replace-member.ts';
import { runWhole } from '../../engine/model/machine.ts';
import { TaggedText } from '../../engine/model/reasoning/tagged-text.ts';
import { readSseRecords, recordEnds } from '../../engine/model/wire/sse.ts';
import { maskUrl, textMask } from '../../engine/observe/log/mask-text.ts';
import { replyContext } from '../support/context.ts';
import { flat, growsLinearly } from './cpu.ts';

const few = 30_000;
/** What is done sooner, in milliseconds, isn't looked at more closely. */
const soonMs = 150;

const bytes = (text: string, size: number): Uint8Array[] => {
  const all = Buffer.from(text);
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.subarray(index * size, (index + 1) * size),
  );
};
const sse =
  (text: (count: number) => string, size: number) =>
  (count: number): (() => unknown) => {
    const chunks = bytes(text(count), size);
    return () => runWhole(readSseRecords, replyContext(), chunks);
  };
const cut =
  (text: (count: number) => string) =>
  (count: number): (() => unknown) => {
    const all = Buffer.from(text(count));
    return () => [...recordEnds(all)].length;
  };
const splice =
  (text: (count: number) => string) =>
  (count: number): (() => unknown) => {
    const json = flat(text(count));
    return () => replaceMember(json, 'model', '"m"');
  };
const tagged =
  (text: (count: number) => string, size: number) =>
  (count: number): (() => unknown) => {
    const pieces = bytes(text(count), size).map(String);
    return () => {
      const nothing = () => {};
      const reader = new TaggedText(['think', 'thinking'], { thinking: nothing, thought: nothing, text: nothing });
      for (const piece of pieces) reader.push(piece);
      reader.end();
    };
  };

const clean = textMask(() => ['a-secret-of-the-configuration', 'xxxxxxxxxxxxxxxxxxxxx']);
const mask =
  (text: (count: number) => string) =>
  (count: number): (() => unknown) => {
    const line = flat(text(count));
    return () => clean(line);
  };
const query =
  (text: string) =>
  (count: number): (() => unknown) => {
    const url = flat(`/v1/messages?${text.repeat(count)}`);
    return () => maskUrl(url, clean);
  };

const readers: Readonly<Record<string, (count: number) => () => unknown>> = {
  'a line of a stream, byte by byte': sse((count) => `data: ${'x'.repeat(count)}\n\n`, 1),
  'a line of a stream that never ends': sse((count) => 'x'.repeat(count), 1),
  'many lines of one record': sse((count) => `${'data: x\n'.repeat(count)}\n`, 1000),
  'many empty lines': sse((count) => '\r\n'.repeat(count), 3),
  'many records of a chunk that ends in another line end': cut((count) => `${'data: x\n\n'.repeat(count)}\r`),
  'many records of a chunk, with CRLF': cut((count) => 'data: x\r\n\r\n'.repeat(count)),
  'letters that are cut in two': sse((count) => `data: ${'é'.repeat(count)}\n\n`, 1),
  'a body with many members of the name that is replaced': splice(
    (count) => `{${Array.from({ length: count }, () => '"model":1').join(',')}}`,
  ),
  'a body with a long escaped text': splice((count) => `{"a":${JSON.stringify('\\"'.repeat(count))},"model":1}`),
  'a body with long names that may be spelled with escapes': splice(
    (count) => `{"${'\\u006d'.repeat(count)}":1,"model":1}`,
  ),
  'a body with much blank text': splice((count) => `{"model":${' '.repeat(count)}1${' '.repeat(count)},"b":1}`),
  'a tag that is opened and closed on and on': tagged((count) => '<think></think>'.repeat(count), 7),
  'all tags in one piece': tagged((count) => '<think>a</think>'.repeat(count), Number.MAX_SAFE_INTEGER),
  'a tag that is never closed, with many beginnings of its end': tagged(
    (count) => `<think>${'</thin'.repeat(count)}`,
    1,
  ),
  'a log line with many keys': mask((count) => 'api_key=a '.repeat(count)),
  'a log line with many beginnings of a token': mask((count) => 'Bearer sk-eyJ'.repeat(count)),
  'a log line with many addresses': mask((count) => 'https://a:b'.repeat(count)),
  'a log line that is nearly a secret': mask((count) => `token ${`${'x'.repeat(20)} `.repeat(count)}`),
  'a query of many separators': query('&;'),
  'a query of one long name': query('aa'),
  'a query of one long value': query('a='),
  'a query of equals signs alone': query('=='),
  'a query of many secrets': query('key=a&'),
  'a query of escapes': query('%25'),
  'blank text before a tag': tagged((count) => ' '.repeat(count), 1),
};

for (const [name, make] of Object.entries(readers)) {
  test(`read in linear time: ${name}`, (t) => {
    const { linear, seen } = growsLinearly(make, (run) => run(), { few, soonMs });
    t.true(linear, seen);
  });
}
