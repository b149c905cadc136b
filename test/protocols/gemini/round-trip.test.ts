import { createHash } from 'node:crypto';
import test from 'ava';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { foldReply, isFault, type Reply, type ReplyBlock } from '../../../engine/model/reply.ts';
import type { Part } from '../../../engine/model/request.ts';
import { geminiUpstream } from '../../../protocols/gemini/index.ts';
import { replyContext } from '../../support/context.ts';
import { eventsOf } from '../../support/events.ts';
import { encode, model, text, user } from './encode.ts';
import { type Fixture, fixtures, objects } from './fixtures.ts';

const { decodeStream, decodeReply } = geminiUpstream();

const replyOf = ({ streamed, bytes }: Fixture): Reply => {
  const body = streamed ? undefined : JSON.parse(new TextDecoder().decode(bytes));
  const reply = foldReply(
    streamed ? eventsOf(decodeStream, [bytes]) : decodeReply(isJsonObject(body) ? body : {}, replyContext()),
  );
  if (isFault(reply)) throw new Error(reply.message);
  return reply;
};

/** A block as a client sends it back in its next request. */
const partOf = (block: ReplyBlock): Part => {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'tool-call':
      return { type: 'tool-call', id: block.id, name: block.name, input: block.json, signature: block.signature };
    case 'opaque':
      return { type: 'opaque', wire: block.block.wire, raw: block.block.raw };
    default:
      return block;
  }
};

const kinds = ['functionCall', 'executableCode', 'toolCall', 'toolResponse', 'text'];

/** Where the payloads of a model's turn are, and what they are. */
const signed = (parts: readonly JsonObject[]): readonly JsonObject[] =>
  parts.flatMap((part) =>
    typeof part.thoughtSignature === 'string'
      ? {
          on: kinds.find((kind) => part[kind] !== undefined) ?? 'nothing',
          length: part.thoughtSignature.length,
          sha256: createHash('sha256').update(part.thoughtSignature).digest('hex'),
        }
      : [],
  );

const withSignatures = fixtures.filter(({ expected }) => objects(expected.signatures).length > 0);

test('recordings with signatures were found', (t) => t.is(withSignatures.length, 10));

for (const fixture of withSignatures) {
  test(`${fixture.name}: each signature goes back where it was, byte for byte`, (t) => {
    const reply = replyOf(fixture);
    const { body } = encode({ model: reply.model, turns: [user(text('q')), model(...reply.blocks.map(partOf))] });
    const contents = objects(body.contents);
    t.is(contents[1]?.role, 'model');
    const parts = objects(contents[1]?.parts);
    t.deepEqual(signed(parts), objects(fixture.expected.signatures));
    t.is(parts.map((part) => part.text ?? '').join(''), String(fixture.expected.text));
    const calls = parts.flatMap(({ functionCall }) => (isJsonObject(functionCall) ? functionCall : []));
    const expected = objects(fixture.expected.tool_calls);
    t.deepEqual(
      calls,
      expected.map(({ id, name, arguments: args }) => ({ name, args, ...(typeof id === 'string' && { id }) })),
    );
  });
}
