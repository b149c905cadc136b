import type { Losses } from '../model/loss.ts';
import type { Signature } from '../model/reasoning/signature.ts';
import type { ModelRequest, Part, ToolCallPart, Turn, WireFormat } from '../model/request.ts';
import { isOff } from '../model/request.ts';
import { CallKeys } from './call-keys.ts';
import type { CallSignatures, SignatureCache } from './signature-cache.ts';

/** The provider that a request goes to, and its wire format. */
interface Recipient {
  /** The provider's name. */
  readonly provider: string;
  readonly wire: WireFormat;
}

/** A request whose payloads all suit its destination. */
interface Reconciled {
  readonly request: ModelRequest;
  /** The client's body may pass through: no payload had to be removed, restored or unpacked. */
  readonly verbatim: boolean;
}

/**
 * Reconciles a conversation's earlier reasoning with the provider that continues it. Payloads that another provider issued in the
 * same wire format are removed and recorded as losses. Payloads that this provider issued and the client lost are restored.
 * The encoder handles payloads of other wire formats.
 */
export const reconcileSignatures = (
  request: ModelRequest,
  addressee: Recipient,
  cache: SignatureCache,
  losses: Losses,
): Reconciled => {
  if (!cache.hasCalls() && !request.turns.some(isSigned)) return { request, verbatim: true };
  const restore = restorer(request, addressee, cache);
  let verbatim = true;
  let changed = false;
  const turns = request.turns.map((turn) => {
    if (turn.role !== 'assistant') return turn;
    const restored = restore(turn);
    const parts = restored.parts.flatMap((part): readonly Part[] => {
      const signature = signatureOf(part);
      if (!signature) return [part];
      // Packed by the gateway, so the vendor can't read the client's copy.
      if (signature.issuer !== undefined || signature.data === '') verbatim = false;
      if (signature.format !== addressee.wire) {
        verbatim = false;
        return [part];
      }
      if (signature.data === '') return [part];
      const issuer = signature.issuer ?? cache.issuerOf(signature);
      if (issuer === undefined || issuer === addressee.provider) return [part];
      const left = withoutSignature(part);
      losses.drop(`${part.at ?? turn.at ?? 'messages'}${left ? '.signature' : ''}`, 'reasoning of another provider');
      return left ? [left] : [];
    });
    const same = parts.length === turn.parts.length && parts.every((part, index) => part === turn.parts[index]);
    if (same) return turn;
    changed = true;
    return { ...turn, parts };
  });
  return changed ? { request: { ...request, turns }, verbatim: false } : { request, verbatim };
};

const isSigned = ({ role, parts }: Turn): boolean =>
  role === 'assistant' && parts.some((part) => signatureOf(part) !== undefined);

const signatureOf = (part: Part): Signature | undefined =>
  part.type === 'thinking' || part.type === 'redacted-thinking' || part.type === 'tool-call'
    ? part.signature
    : undefined;

/** The part without its payload. A call still has a meaning; reasoning is dropped whole. */
const withoutSignature = (part: Part): Part | undefined => {
  if (part.type !== 'tool-call') return undefined;
  const { signature: _foreign, ...call } = part;
  return call;
};

/** Restores the reasoning of a turn's calls, if this provider made them and the client lost it. */
const restorer = (request: ModelRequest, { provider }: Recipient, cache: SignatureCache): ((turn: Turn) => Turn) => {
  if (!cache.hasCalls()) return (turn) => turn;
  const reasons = !isOff(request.reasoning ?? {});
  const keys = new CallKeys(request);
  const recalled = ({ id }: ToolCallPart): CallSignatures | undefined => {
    const call = cache.call(keys.next(id));
    return call?.provider === provider ? call : undefined;
  };
  return (turn) => {
    if (!turn.parts.some((part) => part.type === 'tool-call')) return turn;
    const calls = turn.parts.map((part) => (part.type === 'tool-call' ? recalled(part) : undefined));
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
