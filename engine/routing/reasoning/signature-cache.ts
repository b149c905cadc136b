import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isJsonObject, parseJson } from '../../model/json/json.ts';
import type { Signature } from '../../model/reasoning/signature.ts';
import type { RedactedThinkingPart, ThinkingPart } from '../../model/request.ts';

/** The reasoning that belongs to a tool call, or to an answer without calls, which clients may lose. */
export interface CallSignatures {
  /** The name of the provider whose model made the call. */
  readonly provider: string;
  /** The reasoning that led to the call: everything since the previous call. */
  readonly thinking: readonly (ThinkingPart | RedactedThinkingPart)[];
  /** The call's own payload. */
  readonly signature: Signature | undefined;
}

/** Caches payloads that clients can't or don't send back. Bounded; evicts the least recently used. */
export interface SignatureCache {
  /** Stores the reasoning of a call. `CallKeys` makes the key. */
  readonly storeCall: (key: string, call: CallSignatures) => void;
  /** Whether the cache holds any calls. */
  readonly hasCalls: () => boolean;
  readonly call: (key: string) => CallSignatures | undefined;
  /** Stores the issuer of a payload that the client gets unchanged. */
  readonly storeIssuer: (signature: Signature) => void;
  /** The provider that issued a payload that a client sent; `undefined` if unknown. */
  readonly issuerOf: (signature: Signature) => string | undefined;
}

/** Bounds of a cache. */
interface SignatureCacheBounds {
  readonly calls: number;
  /** Bytes of all calls' reasoning, approximately. */
  readonly callBytes: number;
  readonly issuers: number;
}

/** Enough for some hundred long conversations. */
const defaultBounds: SignatureCacheBounds = { calls: 20_000, callBytes: 32 << 20, issuers: 50_000 };

/** An empty cache; a process has one. */
export const createSignatureCache = (bounds: SignatureCacheBounds = defaultBounds): SignatureCache => {
  // Unlike `max`, `maxSize` allocates nothing in advance. A least size per call bounds their number.
  const share = Math.floor(bounds.callBytes / bounds.calls);
  const calls = new LRUCache<string, CallSignatures>({
    maxSize: bounds.callBytes,
    sizeCalculation: (call) => Math.max(share, callBytes(call)),
  });
  const issuers = new LRUCache<string, string>({ maxSize: bounds.issuers, sizeCalculation: () => 1 });
  return {
    storeCall: (key, call) => calls.set(key, call),
    hasCalls: () => calls.size > 0,
    call: (key) => calls.get(key),
    storeIssuer(signature) {
      const print = fingerprint(signature);
      if (print !== undefined && signature.issuer !== undefined) issuers.set(print, signature.issuer);
    },
    issuerOf(signature) {
      const print = fingerprint(signature);
      return print === undefined ? undefined : issuers.get(print);
    },
  };
};

/** Bytes of keys, objects and list nodes per call. */
const overheadBytes = 500;

const callBytes = ({ thinking, signature }: CallSignatures): number =>
  thinking.reduce(
    (bytes, part) => bytes + textBytes(part.type === 'thinking' ? part.text : '') + payloadBytes(part.signature),
    overheadBytes + payloadBytes(signature),
  );

const payloadBytes = (signature: Signature | undefined): number => textBytes(signature?.data ?? '');

const textBytes = (text: string): number => 2 * text.length;

/** Characters. Shorter payloads aren't distinctive enough. */
const minPayload = 16;

/** Identifies a payload; `undefined` for one that is too short. */
export const fingerprint = ({ data }: Signature): string | undefined => {
  const payload = data.startsWith('{') ? longestText(data) : data;
  return payload.length < minPayload ? undefined : createHash('sha256').update(payload).digest('base64url');
};

/**
 * A payload in a JSON object is identified by its longest text that isn't a label. Clients may rewrite the other members.
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
