import test from 'ava';
import { isJsonObject, type Json } from '../../../engine/model/json/json.ts';
import { foldReply, isFault } from '../../../engine/model/reply.ts';
import { citationsOf, indexGrounding } from '../../../protocols/gemini/citations.ts';
import { geminiUpstream } from '../../../protocols/gemini/index.ts';
import { eventsOf, recordsOf } from '../../support/events.ts';
import { fixtures, objects } from './fixtures.ts';

const { decodeStream } = geminiUpstream();

const member = (value: Json | undefined, name: string): Json | undefined =>
  isJsonObject(value) ? value[name] : undefined;

test("each recorded source cites exactly the vendor's range", (t) => {
  const fixture = fixtures.find(({ name }) => name === 'web-search-grounding');
  if (!fixture) return t.fail('no recording');
  const segments = recordsOf(fixture.bytes).flatMap(({ data }) => {
    const [candidate] = objects(member(JSON.parse(data), 'candidates'));
    return objects(member(candidate?.groundingMetadata, 'groundingSupports')).flatMap(
      ({ segment, groundingChunkIndices }) =>
        Array.isArray(groundingChunkIndices) ? groundingChunkIndices.map(() => member(segment, 'text')) : [],
    );
  });
  const reply = foldReply(eventsOf(decodeStream, [fixture.bytes]));
  if (isFault(reply)) return t.fail(reply.message);
  const cited = reply.blocks.flatMap((block) =>
    block.type === 'text'
      ? block.citations.map((citation) =>
          citation.type === 'url' ? block.text.slice(citation.start, citation.end) : '',
        )
      : [],
  );
  t.is(cited.length, 9);
  t.deepEqual(cited, segments);
});

test('positions count bytes of the whole answer; only what matches the text has one', (t) => {
  const support = (startIndex: number, endIndex: number, chunk: number, text: string) => ({
    segment: { startIndex, endIndex, text },
    groundingChunkIndices: [chunk],
  });
  const grounding = indexGrounding({
    groundingChunks: [{ web: { uri: 'a', title: 'A' } }, { web: { uri: 'b' } }, {}],
    groundingSupports: [
      support(16, 17, 1, 'b'),
      support(12, 16, 0, '😀'),
      support(10, 12, 0, 'other words'),
      support(2, 10, 1, 'of an earlier block'),
      support(8, 12, 0, 'across both'),
      support(18, 20, 0, 'of a later block'),
      support(16, 17, 2, 'b'),
    ],
  });
  t.is(grounding.bytes, 20);
  const cited = (citedBytes: number) =>
    citationsOf(grounding, { from: 10, text: 'ä😀b', citedBytes }).map((citation) =>
      citation.type === 'url' ? [citation.url, citation.title, citation.start, citation.end] : [],
    );
  const here = [
    ['b', undefined, 3, 4],
    ['a', 'A', 1, 3],
    ['a', 'A', undefined, undefined],
  ];
  t.deepEqual(cited(10), here);
  t.deepEqual(cited(0), [...here, ['b', undefined, undefined, undefined]]);
});
