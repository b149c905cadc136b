import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import { foldReply, isFault, type Reply } from '../../../engine/model/reply.ts';

const root = join(import.meta.dirname, '../../fixtures');

/** One recorded reply, with the facts that any correct decoder must yield. */
export interface Fixture {
  readonly name: string;
  readonly status: number;
  readonly streamed: boolean;
  readonly bytes: Uint8Array;
  readonly expected: JsonObject;
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));

const entries = readJson('index.json');

/** All recorded replies of this format. */
export const fixtures: readonly Fixture[] = (Array.isArray(entries) ? entries : [])
  .filter(isJsonObject)
  .filter(({ format }) => format === 'gemini')
  .map(({ case: name, file, status, expected }) => {
    const facts = readJson(String(expected));
    return {
      name: String(name),
      status: Number(status),
      streamed: String(file).endsWith('.sse'),
      bytes: readFileSync(join(root, String(file))),
      expected: isJsonObject(facts) ? facts : {},
    };
  });

/** What the events of one reply add up to, in the words of the recorded facts. */
export const factsOf = (events: readonly ModelEvent[]): JsonObject => {
  const reply = foldReply(events);
  if (isFault(reply)) return { fault: reply.kind };
  const text = reply.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const reasoning = reply.blocks.map((block) => (block.type === 'thinking' ? block.text : '')).join('');
  return {
    id: reply.id,
    model: reply.model,
    text,
    reasoning,
    text_sha256: sha256(text),
    tool_calls: reply.blocks.flatMap((block) =>
      block.type === 'tool-call' ? { id: block.id, name: block.name, arguments: JSON.parse(block.json || '{}') } : [],
    ),
    server_tools: reply.blocks.flatMap((block) => serverTool(block)),
    signatures: signaturesOf(reply).map((signature) => ({ length: signature.length, sha256: sha256(signature) })),
  };
};

/** The recorded facts in the same words. */
export const expectedFacts = (expected: JsonObject): JsonObject => ({
  id: expected.id,
  model: expected.model,
  text: expected.text,
  reasoning: expected.reasoning,
  text_sha256: expected.text_sha256,
  tool_calls: objects(expected.tool_calls).map(({ id, name, arguments: args }, count) => ({
    id: id ?? `call_0123456789abcdef01234567_${count}`,
    name,
    arguments: args,
  })),
  server_tools: objects(expected.server_tools).map(({ type }) => type ?? ''),
  signatures: objects(expected.signatures).map(({ length, sha256: hash }) => ({ length, sha256: hash })),
});

export const objects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** All payloads of a reply, in the order of their parts. */
const signaturesOf = ({ blocks }: Reply): readonly string[] =>
  blocks.flatMap((block) => {
    if (block.type === 'opaque') {
      const { thoughtSignature } = block.block.raw;
      return typeof thoughtSignature === 'string' ? thoughtSignature : [];
    }
    return 'signature' in block && block.signature ? block.signature.data : [];
  });

const serverTool = (block: Reply['blocks'][number]): readonly string[] => {
  if (block.type !== 'opaque') return [];
  const kind = Object.keys(block.block.raw).find((name) => name === 'toolCall' || name === 'executableCode');
  return kind === undefined ? [] : [kind];
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
