import { from, map } from 'rxjs';
import { type Answered, fill, type Reconciled, type Routed } from '../exchange.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { unsupported } from '../model/fault.ts';
import type { Losses } from '../model/loss.ts';
import type { Signature } from '../model/reasoning/signature.ts';
import {
  isOff,
  type ModelRequest,
  type Part,
  type RedactedThinkingPart,
  type ThinkingPart,
  type Turn,
  type WireFormat,
} from '../model/request.ts';
import { AnswerDigest } from '../routing/reasoning/answer-digest.ts';
import { CallKeys } from '../routing/reasoning/call-keys.ts';
import { recallMs, type SharedSignatureCache } from '../routing/reasoning/shared-signatures.ts';
import type { CallSignatures, SignatureCache } from '../routing/reasoning/signature-cache.ts';
import { lastPayload, payloadDigest, removeReasoning, unbrokenTail } from '../routing/reasoning/unbroken-tail.ts';
import { within } from '../runtime/within.ts';
import { fieldsWithoutAttribution, leaveOutAttribution } from './route.ts';
import type { SequenceStep } from './rx/sequence.ts';
import type { Handlers, StreamStage } from './rx/stages.ts';

/**
 * Removes reasoning that another provider issued, and restores this provider's reasoning that the client lost. Waits briefly
 * if only another process may know it.
 */
export const reconcileReasoning = (
  cache: SignatureCache & Partial<SharedSignatureCache>,
): SequenceStep<Routed, Reconciled> => {
  const reconcile = reconcileNow(cache);
  const { recall } = cache;
  if (!recall) return reconcile;
  return (routed) => {
    const { request, resolution, outline } = routed;
    const isComplete = outline !== undefined || keepsReasoning(routed);
    const recalled = recall({ request, provider: resolution.provider.name, isComplete });
    return recalled ? from(within(recallMs, recalled)).pipe(map(() => reconcile(routed))) : reconcile(routed);
  };
};

const reconcileNow =
  (cache: SignatureCache) =>
  (routed: Routed): Reconciled => {
    const { request, resolution, plan, context, listener, outline } = routed;
    const addressee = {
      provider: resolution.provider.name,
      wire: plan.upstream.wire,
      keepsReasoning: keepsReasoning(routed),
      read: outline?.restore,
    };
    const own = leaveOutAttribution(routed);
    const losses = context.losses.at(plan.format.name);
    const reconciled = fill(routed, {
      ...(routed.withoutReasoning
        ? { request: removeReasoning(own, losses), relayable: false }
        : reconcileSignatures(own, addressee, cache, losses)),
      withoutAttribution: own !== request || fieldsWithoutAttribution(request, routed) !== undefined,
    });
    listener.reconciled?.(reconciled);
    return reconciled;
  };

/** Whether the client returns this destination's reasoning itself, so that what it leaves out stays out. */
const keepsReasoning = ({ client, plan, request }: Routed): boolean =>
  client.returnsReasoning === true &&
  client.wire === plan.upstream.wire &&
  lastPayload(request, client.wire) !== undefined;

/** Marks payloads with the provider that issued them, and caches those that the client may lose. */
export const watchSignatures =
  (cache: SignatureCache): StreamStage<Answered, Batch, Batch> =>
  (answered) =>
    watchOf(answered, cache);

export const watchOf = (
  { resolution, client, context, request, plan }: Answered,
  cache: SignatureCache,
): SignatureWatch =>
  new SignatureWatch(cache, {
    provider: resolution.provider.name,
    client: client.wire,
    request: context.request,
    sent: { request, wire: plan.upstream.wire },
  });

/** The provider that a request goes to, and its wire format. */
interface Recipient {
  /** The provider's name. */
  readonly provider: string;
  readonly wire: WireFormat;
  /** The client returns its reasoning itself: nothing is restored. */
  readonly keepsReasoning?: boolean;
  /** The text that a mark of the request's outline stands for. */
  readonly read?: ((text: string) => string) | undefined;
}

/** A request whose payloads all suit its destination. */
interface ReconciledRequest {
  readonly request: ModelRequest;
  /** The client's body may be relayed: no payload had to be removed, restored or unpacked. */
  readonly relayable: boolean;
}

/**
 * Reconciles a conversation's earlier reasoning with the provider that continues it. Payloads that another provider issued in the
 * same wire format are removed and recorded as losses; one that holds a part of the conversation is refused. Payloads that this provider issued and the client lost are restored.
 * What is left is an unbroken tail: a payload behind a gap is refused. The encoder handles payloads of other wire formats.
 */
export const reconcileSignatures = (
  request: ModelRequest,
  addressee: Recipient,
  cache: SignatureCache,
  losses: Losses,
): ReconciledRequest => {
  if (!request.turns.some(isAnswer)) return { request, relayable: true };
  if (!cache.hasCalls() && !request.turns.some(isSigned)) return { request, relayable: true };
  const restore = restorer(request, addressee, cache);
  let relayable = true;
  let changed = false;
  const turns = request.turns.map((turn) => {
    if (turn.role !== 'assistant') return turn;
    const restored = restore(turn);
    const parts = restored.parts.flatMap((part): readonly Part[] => {
      const signature = signatureOf(part);
      if (!signature) return [part];
      // Packed by the gateway, so the vendor can't read the client's copy.
      if (signature.issuer !== undefined || signature.data === '') relayable = false;
      if (signature.format !== addressee.wire) {
        relayable = false;
        return [part];
      }
      if (signature.data === '') return [part];
      const issuer = signature.issuer ?? cache.issuerOf(signature);
      if (issuer === undefined || issuer === addressee.provider) return [part];
      if (part.type === 'opaque') refuseForeign(part.at, issuer);
      const left = withoutSignature(part);
      losses.drop(`${part.at ?? turn.at ?? 'turns'}${left ? '.signature' : ''}`, 'reasoning of another provider');
      return left ? [left] : [];
    });
    const same = parts.length === turn.parts.length && parts.every((part, index) => part === turn.parts[index]);
    if (same) return turn;
    changed = true;
    return { ...turn, parts };
  });
  const reconciled = changed ? { ...request, turns } : request;
  const gapped = unbrokenTail(reconciled, addressee.wire, losses);
  return changed || gapped !== request ? { request: gapped, relayable: false } : { request, relayable };
};

const isAnswer = ({ role }: Turn): boolean => role === 'assistant';

const isSigned = ({ role, parts }: Turn): boolean =>
  role === 'assistant' && parts.some((part) => signatureOf(part) !== undefined);

const signatureOf = (part: Part): Signature | undefined =>
  part.type === 'thinking' || part.type === 'redacted-thinking' || part.type === 'tool-call' || part.type === 'opaque'
    ? part.signature
    : undefined;

/** The rest of the conversation is in it. */
const refuseForeign = (at = 'input', issuer: string): never =>
  unsupported(
    at,
    `${at}: only the provider that compacted this part of the conversation can read it, which is ${issuer}.`,
  );

/** The part without its payload. A call still has a meaning; reasoning is dropped whole. */
const withoutSignature = (part: Part): Part | undefined => {
  if (part.type !== 'tool-call') return undefined;
  const { signature: _foreign, ...call } = part;
  return call;
};

/** Restores the reasoning of a turn's calls, if this provider made them and the client lost it. */
const restorer = (
  request: ModelRequest,
  { provider, keepsReasoning: isComplete, read }: Recipient,
  cache: SignatureCache,
): ((turn: Turn) => Turn) => {
  if (isComplete || !cache.hasCalls()) return (turn) => turn;
  const reasons = !isOff(request.reasoning ?? {});
  const keys = new CallKeys(request, read);
  const recalled = (key: string): CallSignatures | undefined => {
    const call = cache.call(key);
    return call?.provider === provider ? call : undefined;
  };
  return (turn) => {
    if (!turn.parts.some((part) => part.type === 'tool-call')) {
      const answer = recalled(keys.nextText(turn.parts));
      return answer && reasons && lacksReasoning(turn, [answer])
        ? { ...turn, parts: [...answer.thinking, ...turn.parts.filter(({ type }) => type !== 'thinking')] }
        : turn;
    }
    const calls = turn.parts.map((part) => (part.type === 'tool-call' ? recalled(keys.next(part.id)) : undefined));
    if (!calls.some((call) => call !== undefined)) return turn;
    const replaces = reasons && lacksReasoning(turn, calls);
    const parts = turn.parts.flatMap((part, index): readonly Part[] => {
      if (part.type === 'thinking') return replaces ? [] : [part];
      const call = calls[index];
      if (part.type !== 'tool-call' || !call) return [part];
      const signed = part.signature || !call.signature ? part : { ...part, signature: call.signature };
      return replaces && index !== firstCall(turn) ? [...call.thinking, signed] : [signed];
    });
    // Reasoning comes before all other parts of the turn.
    const front = replaces ? (calls[firstCall(turn)]?.thinking ?? []) : [];
    return { ...turn, parts: [...front, ...parts] };
  };
};

const firstCall = (turn: Turn): number => turn.parts.findIndex((part) => part.type === 'tool-call');

/** The client kept no reasoning, or only its text although there was a payload. */
const lacksReasoning = (turn: Turn, calls: readonly (CallSignatures | undefined)[]): boolean => {
  const kept = turn.parts.filter((part) => part.type === 'thinking' || part.type === 'redacted-thinking');
  if (kept.length === 0) return true;
  const hadPayload = calls.some((call) => call?.thinking.some(({ signature }) => signature && signature.data !== ''));
  return hadPayload && kept.every(({ signature }) => signature === undefined);
};

/** The provider, client and request of the watched answer. */
interface Watched {
  /** The provider's name. */
  readonly provider: string;
  /** The client's wire format. Payloads in the same format reach the client unchanged. */
  readonly client: WireFormat;
  /** The request as the client sent it. */
  readonly request: ModelRequest;
  /** The request as the provider got it, and in which format; absent: none. */
  readonly sent?: { readonly request: ModelRequest; readonly wire: WireFormat };
}

/** Watches one answer's events for payloads. Marks who issued them and caches what the client may lose. */
export class SignatureWatch implements Handlers<Batch, Batch> {
  readonly #cache: SignatureCache;
  readonly #watched: Watched;
  /** Reasoning text of the open block. */
  #text: string[] = [];
  #isThinking = false;
  #signature: Signature | undefined;
  /** The digest of the last payload before the next one; `undefined` before the answer's first. */
  #last: { readonly digest: string | undefined } | undefined;
  /** The text of an answer that has no calls so far. */
  #answer: AnswerDigest | undefined = new AnswerDigest();
  /** Reasoning since the previous call. */
  #thinking: (ThinkingPart | RedactedThinkingPart)[] = [];
  /** All calls of the answer; `call` is present if there is something to cache. */
  readonly #calls: { readonly id: string; readonly call: CallSignatures | undefined }[] = [];

  constructor(cache: SignatureCache, watched: Watched) {
    this.#cache = cache;
    this.#watched = watched;
  }

  /** The batch with its payloads marked with the provider's name; the same array if it holds none. */
  next(batch: Batch): Batch {
    let marked: ModelEvent[] | undefined;
    for (let index = 0; index < batch.length; index += 1) {
      const event = batch[index];
      if (event === undefined) continue;
      const read = this.#read(event);
      if (read === event) continue;
      marked ??= [...batch];
      marked[index] = read;
    }
    return marked ?? batch;
  }

  #read(event: ModelEvent): ModelEvent {
    switch (event.type) {
      case 'block-start':
        return this.#start(event);
      case 'text-delta':
        this.#answer?.add(event.text);
        return event;
      case 'thinking-delta':
        this.#text.push(event.text);
        return event;
      case 'signature-delta':
        this.#signature = this.#mark(this.#link(event.signature));
        return { ...event, signature: this.#signature };
      case 'opaque-delta':
        if (event.signature) this.#mark(event.signature);
        return event;
      case 'block-stop':
        if (this.#isThinking) this.#keepThinking();
        return event;
      case 'message-stop':
        this.#storeCalls();
        return event;
      default:
        return event;
    }
  }

  #start(event: Extract<ModelEvent, { type: 'block-start' }>): ModelEvent {
    const { block } = event;
    switch (block.type) {
      case 'thinking':
        this.#isThinking = true;
        return event;
      case 'redacted-thinking': {
        const marked = { ...block, signature: this.#mark(this.#link(block.signature)) };
        this.#thinking.push(marked);
        return { ...event, block: marked };
      }
      case 'tool-call': {
        const signature = block.signature && this.#mark(block.signature);
        this.#keepCall(block.id, signature);
        return signature ? { ...event, block: { ...block, signature } } : event;
      }
      default:
        return event;
    }
  }

  #mark(signature: Signature): Signature {
    const marked = { ...signature, issuer: this.#watched.provider };
    if (marked.format === this.#watched.client) this.#cache.storeIssuer(marked);
    return marked;
  }

  /** The payload, with a digest of the one before it. */
  #link(signature: Signature): Signature {
    const { sent } = this.#watched;
    if (signature.data === '') return signature;
    const after = this.#last ? this.#last.digest : sent && lastPayload(sent.request, sent.wire);
    this.#last = { digest: payloadDigest(signature) };
    return after === undefined ? signature : { ...signature, after };
  }

  #keepThinking(): void {
    const text = this.#text.join('');
    const signature = this.#signature;
    if (text !== '' || signature) this.#thinking.push({ type: 'thinking', text, ...(signature && { signature }) });
    this.#text = [];
    this.#isThinking = false;
    this.#signature = undefined;
  }

  #keepCall(id: string, signature: Signature | undefined): void {
    const keeps = id !== '' && (signature !== undefined || this.#thinking.length > 0);
    const call = { provider: this.#watched.provider, thinking: this.#thinking, signature };
    this.#calls.push({ id, call: keeps ? call : undefined });
    this.#answer = undefined;
    this.#thinking = [];
  }

  /** Called only for complete answers: clients don't keep others. */
  #storeCalls(): void {
    const thinking = this.#thinking;
    const { provider, request } = this.#watched;
    if (this.#answer && thinking.length > 0) {
      const key = new CallKeys(request).skipHistory().nextAnswer(this.#answer.end());
      this.#cache.storeCall(key, { provider, thinking, signature: undefined });
    }
    if (!this.#calls.some(({ call }) => call !== undefined)) return;
    const keys = new CallKeys(request).skipHistory();
    for (const { id, call } of this.#calls) {
      const key = keys.next(id);
      if (call) this.#cache.storeCall(key, call);
    }
    this.#calls.length = 0;
  }
}
