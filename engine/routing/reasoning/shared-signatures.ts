import { setTimeout as wait } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import Type from 'typebox';
import { parseJson } from '../../model/json/json.ts';
import type { Signature } from '../../model/reasoning/signature.ts';
import type { ModelRequest, Part, Turn } from '../../model/request.ts';
import { reader } from '../../model/schema.ts';
import { CallKeys } from './call-keys.ts';
import { fingerprint, type SignatureCache } from './signature-cache.ts';

/** Texts by name that other processes can read too, or this one after a restart. */
export interface SharedTexts {
  /** Whether there can be anything to read. What is put before is for processes that start later. */
  readonly isOpen: () => boolean;
  /** Keeps a text; must not wait. */
  readonly put: (name: string, text: string) => void;
  /**
   * Reads texts in the order of their names, `undefined` for unknown ones; nothing if there is no answer. `late` gets what arrives
   * after that.
   */
  readonly read: (
    names: readonly string[],
    late: (texts: readonly (string | undefined)[]) => void,
  ) => Promise<readonly (string | undefined)[] | undefined>;
}

/** A request that continues a conversation, and its provider. */
interface Returning {
  readonly request: ModelRequest;
  /** The provider's name. */
  readonly provider: string;
  /** No answer needs anything: only the request's outline is known, which is relayed, or the client keeps its reasoning itself. */
  readonly isComplete: boolean;
}

/** A cache with a second, shared one behind it. */
export interface SharedSignatureCache extends SignatureCache {
  /**
   * Fetches what the request needs and this process doesn't know; `undefined` if there is nothing to fetch. What arrives later than
   * `recallMs` is kept too.
   */
  readonly recall: (returning: Returning) => Promise<void> | undefined;
}

const SharedSignature = Type.Object({
  format: Type.String(),
  issuer: Type.Optional(Type.String()),
  data: Type.String(),
  text: Type.Optional(Type.String()),
  after: Type.Optional(Type.String()),
});
const SharedCall = Type.Object({
  thinking: Type.Array(
    Type.Union([
      Type.Object({ type: Type.Literal('thinking'), text: Type.String(), signature: Type.Optional(SharedSignature) }),
      Type.Object({ type: Type.Literal('redacted-thinking'), signature: SharedSignature }),
    ]),
  ),
  signature: Type.Optional(SharedSignature),
});
const sharedCall = reader(SharedCall);

/**
 * The longest that a request waits for what only other processes know, in milliseconds. Those of the same machine answer at once,
 * unless they are busy: without the answer, a vendor may refuse the request.
 */
export const recallMs = 600;
/** The newest calls may still be on their way to the store: after so many milliseconds, they are looked for again. */
const againMs = 10;

/** Calls and payloads per request that are looked for; of a longer conversation, the newest. */
const maxLookups = 500;
/** Milliseconds for which a failed look-up isn't repeated: calls without reasoning are never found. */
const absentMs = 60_000;
const maxAbsent = 50_000;
/** Providers remembered whose calls have nothing to restore. */
const maxUnsigned = 1_000;

/** Puts a shared cache behind the process's own. */
export const shareSignatures = (own: SignatureCache, texts: SharedTexts): SharedSignatureCache => {
  const absent = new LRUCache<string, true>({ max: maxAbsent, ttl: absentMs });
  /** Providers of which the newest calls weren't found. */
  const unsigned = new LRUCache<string, true>({ max: maxUnsigned });
  const isWanted = ({ name }: Lookup): boolean => !absent.has(name);

  /** Takes what is found. Returns the others; `undefined` without an answer. */
  const read = async (lookups: readonly Lookup[]): Promise<readonly Lookup[] | undefined> => {
    const take = (found: readonly (string | undefined)[]): readonly Lookup[] =>
      lookups.filter((lookup, index) => !takeText(lookup.take, found[index]));
    const found = await texts.read(
      lookups.map(({ name }) => name),
      take,
    );
    return found && take(found);
  };
  const recall = async (lookups: readonly Lookup[], provider: string): Promise<void> => {
    let missing = await read(lookups);
    const newest = lookups.filter(({ isNewest }) => isNewest);
    // Calls of one answer are stored together, and not each of them has something to restore.
    if (newest.length > 0 && newest.every((lookup) => missing?.includes(lookup)) && !unsigned.has(provider)) {
      await wait(againMs);
      const still = await read(newest);
      if (still?.length === newest.length) unsigned.set(provider, true);
      missing = missing?.filter((lookup) => !newest.includes(lookup) || still?.includes(lookup));
    }
    if (missing && missing.length < lookups.length) unsigned.delete(provider);
    for (const { name } of missing ?? []) absent.set(name, true);
  };
  return {
    ...own,
    storeCall(key, call) {
      own.storeCall(key, call);
      const { provider, thinking, signature } = call;
      unsigned.delete(provider);
      texts.put(callName(provider, key), JSON.stringify({ thinking, signature }));
    },
    storeIssuer(signature) {
      own.storeIssuer(signature);
      const print = fingerprint(signature);
      if (print !== undefined && signature.issuer !== undefined) {
        texts.put(issuerName(print), signature.issuer);
      }
    },
    recall({ request, provider, isComplete }) {
      if (!texts.isOpen()) return undefined;
      const calls = isComplete ? [] : unknownCalls(request, provider, own);
      const lookups = [...calls, ...unknownIssuers(request, own)].filter(isWanted);
      return lookups.length === 0 ? undefined : recall(lookups.slice(-maxLookups), provider);
    },
  };
};

/** A text to look for, and what to do with it. */
interface Lookup {
  readonly name: string;
  readonly take: (text: string) => void;
  /** Of the last assistant turn: it may have been stored a moment ago. */
  readonly isNewest: boolean;
}

const takeText = (take: Lookup['take'], text: string | undefined): boolean => {
  if (text === undefined) return false;
  take(text);
  return true;
};

const callName = (provider: string, key: string): string => JSON.stringify(['call', provider, key]);

const issuerName = (print: string): string => JSON.stringify(['issuer', print]);

const unknownCalls = (request: ModelRequest, provider: string, own: SignatureCache): readonly Lookup[] => {
  const keys = new CallKeys(request);
  const newest = request.turns.findLast(({ role }) => role === 'assistant');
  return request.turns.filter(isAnswer).flatMap((turn) =>
    keysOf(turn, keys).flatMap((key): readonly Lookup[] => {
      if (own.call(key)?.provider === provider) return [];
      const take = (text: string): void => {
        const call = parseJson(text);
        if (sharedCall.matches(call)) {
          own.storeCall(key, { provider, thinking: call.thinking, signature: call.signature });
        }
      };
      return [{ name: callName(provider, key), take, isNewest: turn === newest }];
    }),
  );
};

const isAnswer = ({ role }: Turn): boolean => role === 'assistant';

/** The keys of a turn's calls; without calls, of its text, unless it has its reasoning. */
const keysOf = ({ parts }: Turn, keys: CallKeys): readonly string[] => {
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [keys.next(part.id)] : []));
  if (calls.length > 0) return calls;
  const key = keys.nextText(parts);
  return parts.some((part) => 'signature' in part && part.signature !== undefined) ? [] : [key];
};

const unknownIssuers = (request: ModelRequest, own: SignatureCache): readonly Lookup[] =>
  assistantParts(request).flatMap((part): readonly Lookup[] => {
    const signature = 'signature' in part ? part.signature : undefined;
    if (!signature || signature.issuer !== undefined || own.issuerOf(signature) !== undefined) return [];
    const print = fingerprint(signature);
    return print === undefined
      ? []
      : [{ name: issuerName(print), take: (issuer) => storeIssuer(own, signature, issuer), isNewest: false }];
  });

const storeIssuer = (own: SignatureCache, signature: Signature, issuer: string): void =>
  own.storeIssuer({ ...signature, issuer });

const assistantParts = ({ turns }: ModelRequest): readonly Part[] =>
  turns.flatMap(({ role, parts }) => (role === 'assistant' ? parts : []));
