import type { Losses } from '../model/loss.ts';
import type { ModelRequest, Part, ToolCallPart, Turn, WireFormat } from '../model/request.ts';
import type { Signature } from '../model/signature.ts';
import { CallKeys } from './call-keys.ts';
import type { CallMemory, SignatureMemory } from './memory.ts';

/** Who gets a request. */
export interface Addressee {
  /** The provider's name. */
  readonly provider: string;
  readonly wire: WireFormat;
}

/** A request whose payloads are all right for their addressee. */
export interface Settled {
  readonly request: ModelRequest;
  /** It may go out as the client wrote it: no payload in it is another's, and none had to be put back. */
  readonly asItCame: boolean;
}

/**
 * Makes a conversation's earlier reasoning right for the provider that is to go on with it: what another one minted in the same
 * wire format is left out and recorded, and what this one minted and the client lost is put back. Payloads of other wire
 * formats are the encoder's affair.
 */
export const settleSignatures = (
  request: ModelRequest,
  addressee: Addressee,
  memory: SignatureMemory,
  losses: Losses,
): Settled => {
  const recall = recaller(request, addressee, memory);
  let asItCame = true;
  let changed = false;
  const turns = request.turns.map((turn) => {
    if (turn.role !== 'assistant') return turn;
    const restored = recall(turn);
    const parts = restored.parts.flatMap((part): readonly Part[] => {
      const signature = signatureOf(part);
      if (!signature) return [part];
      // Packed by the gateway: a vendor can't read it as it came.
      if (signature.mint !== undefined || signature.data === '') asItCame = false;
      if (signature.format !== addressee.wire) {
        asItCame = false;
        return [part];
      }
      if (signature.data === '') return [part];
      const mint = signature.mint ?? memory.mintOf(signature);
      if (mint === undefined || mint === addressee.provider) return [part];
      const left = withoutSignature(part);
      losses.drop(`${part.at ?? turn.at ?? 'messages'}${left ? '.signature' : ''}`, 'reasoning of another provider');
      return left ? [left] : [];
    });
    const same = parts.length === turn.parts.length && parts.every((part, index) => part === turn.parts[index]);
    if (same) return turn;
    changed = true;
    return { ...turn, parts };
  });
  return changed ? { request: { ...request, turns }, asItCame: false } : { request, asItCame };
};

const signatureOf = (part: Part): Signature | undefined =>
  part.type === 'thinking' || part.type === 'redacted-thinking' || part.type === 'tool-call'
    ? part.signature
    : undefined;

/** A call means something without its payload; reasoning doesn't. */
const withoutSignature = (part: Part): Part | undefined => {
  if (part.type !== 'tool-call') return undefined;
  const { signature: _foreign, ...call } = part;
  return call;
};

/** Puts back what came with a turn's calls, where this provider made them and the client lost it. */
const recaller = (request: ModelRequest, { provider }: Addressee, memory: SignatureMemory): ((turn: Turn) => Turn) => {
  if (!memory.hasCalls()) return (turn) => turn;
  const { mode, effort } = request.reasoning ?? {};
  const thinks = mode !== 'off' && !(mode === undefined && effort === 'none');
  const keys = new CallKeys(request);
  const recalled = ({ id }: ToolCallPart): CallMemory | undefined => {
    const call = memory.call(keys.next(id));
    return call?.provider === provider ? call : undefined;
  };
  return (turn) => {
    if (!turn.parts.some((part) => part.type === 'tool-call')) return turn;
    const calls = turn.parts.map((part) => (part.type === 'tool-call' ? recalled(part) : undefined));
    if (!calls.some((call) => call !== undefined)) return turn;
    const replaces = thinks && lacksReasoning(turn, calls);
    const parts = turn.parts.flatMap((part, index): readonly Part[] => {
      if (part.type === 'thinking') return replaces ? [] : [part];
      const call = calls[index];
      if (part.type !== 'tool-call' || !call) return [part];
      const signed = part.signature || !call.signature ? part : { ...part, signature: call.signature };
      return replaces && index !== firstCall(turn) ? [...call.thinking, signed] : [signed];
    });
    // Reasoning comes before everything else that it led to.
    const front = replaces ? (calls[firstCall(turn)]?.thinking ?? []) : [];
    return { ...turn, parts: [...front, ...parts] };
  };
};

const firstCall = (turn: Turn): number => turn.parts.findIndex((part) => part.type === 'tool-call');

/** The client kept no reasoning, or its text alone where there was a payload too. */
const lacksReasoning = (turn: Turn, calls: readonly (CallMemory | undefined)[]): boolean => {
  const kept = turn.parts.filter((part) => part.type === 'thinking' || part.type === 'redacted-thinking');
  if (kept.length === 0) return true;
  const sealed = calls.some((call) => call?.thinking.some(({ signature }) => signature && signature.data !== ''));
  return sealed && kept.every(({ signature }) => signature === undefined);
};
