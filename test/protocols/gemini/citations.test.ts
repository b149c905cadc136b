import test from 'ava';
import { isJsonObject, type Json } from '../../../engine/model/json/json.ts';
import { foldReply, isFault } from '../../../engine/model/reply.ts';
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
