import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { JsonObject } from '../../../engine/model/json/json.ts';

const root = new URL('../../fixtures/', import.meta.url);
const folder = new URL('openai-responses/', root);

/** The facts of a recorded reply, as far as these tests use them. */
export interface Expected {
  readonly case: string;
  readonly kind: 'sse' | 'json';
  readonly http_status: number;
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
  readonly reasoning_summary: string;
  readonly tool_calls: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  readonly server_tools: readonly { readonly type: string; readonly id: string }[];
  readonly annotations: number;
  readonly stop_reason: string;
  readonly incomplete_details?: { readonly reason: string };
  readonly encrypted: readonly { readonly length: number; readonly sha256: string }[];
  readonly error?: { readonly code: string | null; readonly message: string };
  readonly usage: {
    readonly input_tokens: number;
    readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens?: number };
    readonly output_tokens: number;
    readonly output_tokens_details: { readonly reasoning_tokens: number };
  } | null;
}

export const expectedCases: readonly Expected[] = readdirSync(new URL('expected/openai-responses/', root)).map((name) =>
  JSON.parse(readFileSync(new URL(`expected/openai-responses/${name}`, root), 'utf8')),
);

export const replyBytes = ({ case: name, kind }: Expected): Uint8Array =>
  readFileSync(new URL(`${name}.${kind}`, folder));

/** The recorded requests by the name of their case. */
export const requests: ReadonlyMap<string, JsonObject> = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith('.request.json'))
    .map((name) => [name.replace('.request.json', ''), JSON.parse(readFileSync(new URL(name, folder), 'utf8'))]),
);

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
