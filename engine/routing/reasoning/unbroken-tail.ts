import { createHash } from 'node:crypto';
import type { Losses } from '../../model/loss.ts';
import type { Signature } from '../../model/reasoning/signature.ts';
import type { ModelRequest, Part, RedactedThinkingPart, ThinkingPart, WireFormat } from '../../model/request.ts';

/** Identifies a payload among those of its conversation. */
export const payloadDigest = ({ data }: Signature): string =>
  createHash('sha256').update(data).digest('base64url').slice(0, digestLength);

const digestLength = 16;

/** The digest of the last reasoning payload that a request in this wire format holds; `undefined`: none. */
export const lastPayload = ({ turns }: ModelRequest, wire: WireFormat): string | undefined => {
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const last = turns[index]?.parts.findLast((part) => isPayload(part, wire));
    if (last && isReasoning(last) && last.signature) return payloadDigest(last.signature);
  }
  return undefined;
};

/**
 * The request without the reasoning before a gap. Vendors bind each payload to all that went before it when it was issued, and accept
 * only that the oldest are left out: of what is left, none is missing.
 */
export const unbrokenTail = (request: ModelRequest, wire: WireFormat, losses: Losses): ModelRequest => {
  const removed = beforeGap(request, wire);
  return removed.size === 0 ? request : without(request, (part) => removed.has(part), 'reasoning before a gap', losses);
};

/** The request without any reasoning, for a vendor that has refused it. */
export const removeReasoning = (request: ModelRequest, losses: Losses): ModelRequest =>
  without(request, isReasoning, 'reasoning that the provider refused', losses);

/** Nothing that the client sent is lost. */
const without = (
  request: ModelRequest,
  isRemoved: (part: Part) => boolean,
  why: string,
  losses: Losses,
): ModelRequest => ({
  ...request,
  turns: request.turns.map((turn) => {
    const parts = turn.parts.filter((part) => {
      if (!isRemoved(part)) return true;
      if (part.at !== undefined) losses.drop(part.at, why);
      return false;
    });
    return parts.length === turn.parts.length ? turn : { ...turn, parts };
  }),
});

/** The payloads before the first gap, seen from the end. */
const beforeGap = ({ turns }: ModelRequest, wire: WireFormat): ReadonlySet<Part> => {
  const removed = new Set<Part>();
  /** The digest of the payload that must stand before; empty: none may, `undefined`: unknown. */
  let expected: string | undefined;
  let isBroken = false;
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const parts = turns[index]?.parts ?? [];
    for (let place = parts.length - 1; place >= 0; place -= 1) {
      const part = parts[place];
      if (!part || !isPayload(part, wire) || !isReasoning(part) || !part.signature) continue;
      const { signature } = part;
      isBroken ||= expected !== undefined && expected !== payloadDigest(signature);
      if (isBroken) removed.add(part);
      // Reasoning without the gateway's mark comes from a client that keeps it itself.
      expected = signature.issuer === undefined ? undefined : (signature.after ?? '');
    }
  }
  return removed;
};

const isPayload = (part: Part, wire: WireFormat): boolean =>
  isReasoning(part) && part.signature?.format === wire && part.signature.data !== '';

const isReasoning = (part: Part): part is ThinkingPart | RedactedThinkingPart =>
  part.type === 'thinking' || part.type === 'redacted-thinking';
