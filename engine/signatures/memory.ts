import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isJsonObject, parseJson } from '../model/json.ts';
import type { RedactedThinkingPart, ThinkingPart } from '../model/request.ts';
import type { Signature } from '../model/signature.ts';

/** What came with a tool call, and may get lost on its way through a client. */
export interface CallMemory {
  /** The name of the provider whose model made the call. */
  readonly provider: string;
  /** The reasoning that led to it: all since the call before. */
  readonly thinking: readonly (ThinkingPart | RedactedThinkingPart)[];
  /** The payload that belongs to the call itself. */
  readonly signature: Signature | undefined;
}

/** What this process knows of payloads that clients can't or don't carry. Bounded; what is used least goes first. */
export interface SignatureMemory {
  /** Keeps what came with a call; for `key` see `CallKeys`. */
  readonly noteCall: (key: string, call: CallMemory) => void;
  /** Whether it keeps any. */
  readonly hasCalls: () => boolean;
  readonly call: (key: string) => CallMemory | undefined;
  /** Keeps in mind who minted a payload that a client gets as it is. */
  readonly noteMint: (signature: Signature) => void;
  /** The provider that minted a payload which a client sent as it is; `undefined` when nobody knows. */
  readonly mintOf: (signature: Signature) => string | undefined;
}

/** Bounds of a memory. */
export interface MemoryBounds {
  readonly calls: number;
  /** Bytes that all calls' reasoning may take, roughly. */
  readonly callBytes: number;
  readonly mints: number;
}

/** Room for some hundred long conversations. */
const plainBounds: MemoryBounds = { calls: 20_000, callBytes: 32 << 20, mints: 50_000 };

/** An empty memory; one per process. */
export const createSignatureMemory = (bounds: MemoryBounds = plainBounds): SignatureMemory => {
  const calls = new LRUCache<string, CallMemory>({
    max: bounds.calls,
    maxSize: bounds.callBytes,
    sizeCalculation: callBytes,
  });
  const mints = new LRUCache<string, string>({ max: bounds.mints });
  return {
    noteCall: (key, call) => calls.set(key, call),
    hasCalls: () => calls.size > 0,
    call: (key) => calls.get(key),
    noteMint(signature) {
      const print = fingerprint(signature);
      if (print !== undefined && signature.mint !== undefined) mints.set(print, signature.mint);
    },
    mintOf(signature) {
      const print = fingerprint(signature);
      return print === undefined ? undefined : mints.get(print);
    },
  };
};

/** Keys, objects and list nodes, beside the texts. */
const overheadBytes = 500;

const callBytes = ({ thinking, signature }: CallMemory): number =>
  thinking.reduce(
    (bytes, part) => bytes + textBytes(part.type === 'thinking' ? part.text : '') + payloadBytes(part.signature),
    overheadBytes + payloadBytes(signature),
  );

const payloadBytes = (signature: Signature | undefined): number => textBytes(signature?.data ?? '');

const textBytes = (text: string): number => 2 * text.length;

/** A payload shorter than this might be anybody's. */
const leastPayload = 16;

const fingerprint = ({ data }: Signature): string | undefined => {
  const payload = data.startsWith('{') ? longestText(data) : data;
  return payload.length < leastPayload ? undefined : createHash('sha256').update(payload).digest('base64url');
};

/**
 * A payload inside a JSON object is known by its longest text that is no mere label: clients may write the other members
 * another way.
 */
const label = /^[a-z0-9._-]+$/;

const longestText = (json: string): string => {
  const value = parseJson(json);
  if (!isJsonObject(value)) return json;
  return Object.values(value).reduce<string>(
    (longest, member) =>
      typeof member === 'string' && member.length > longest.length && !label.test(member) ? member : longest,
    '',
  );
};
