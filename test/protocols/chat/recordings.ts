import { readdirSync, readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';

const root = new URL('../../fixtures/', import.meta.url);

/** One recorded answer of a server, and the facts that it holds. */
export interface Recording {
  readonly name: string;
  readonly streamed: boolean;
  readonly bytes: Uint8Array;
  readonly expected: JsonObject;
}

const files = readdirSync(new URL('openai-chat/', root)).sort();

const readObject = (path: string): JsonObject => {
  const value: unknown = JSON.parse(readFileSync(new URL(path, root), 'utf8'));
  if (!isJsonObject(value)) throw new Error(`${path} holds no object`);
  return value;
};

/** Every recorded answer. */
export const recordings: readonly Recording[] = files
  .filter((file) => !file.endsWith('.request.json'))
  .map((file) => {
    const name = file.replace(/\.(sse|json)$/, '');
    return {
      name,
      streamed: file.endsWith('.sse'),
      bytes: readFileSync(new URL(`openai-chat/${file}`, root)),
      expected: readObject(`expected/openai-chat/${name}.json`),
    };
  });

/** Every recorded request body by its case. */
export const requests: readonly (readonly [name: string, body: JsonObject])[] = files
  .filter((file) => file.endsWith('.request.json'))
  .map((file) => [file.replace('.request.json', ''), readObject(`openai-chat/${file}`)]);
