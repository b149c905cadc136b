import type { Losses } from '../../engine/model/loss.ts';
import type { Part, Turn } from '../../engine/model/request.ts';

/**
 * The parts that this wire format takes: no empty text, no reasoning that another vendor signed (a foreign signature is a 400),
 * no blocks of another wire format. `at` stands in for parts that don't know where they were.
 */
export const carriedParts = (parts: readonly Part[], at: string, losses: Losses): readonly Part[] =>
  parts.filter((part) => {
    if (part.type === 'text' || part.type === 'refusal') return part.text.trim() !== '';
    if (part.type === 'thinking' || part.type === 'redacted-thinking') {
      if (isNative(part)) return true;
      losses.drop(part.at ?? at, 'reasoning of another vendor');
      return false;
    }
    if (part.type === 'opaque' && part.wire !== 'messages') {
      losses.drop(part.at ?? at);
      return false;
    }
    return true;
  });

/** Reasoning that this wire format's vendor signed. */
export const isNative = (part: Part): boolean =>
  (part.type === 'thinking' || part.type === 'redacted-thinking') &&
  part.signature?.format === 'messages' &&
  part.signature.data !== '';

/** Neighbouring turns of one side as one. Instructions stay as they are. */
export const mergeTurns = (turns: Iterable<Turn>): readonly Turn[] => {
  const merged: Draft[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (!last || last.role !== turn.role || turn.role === 'system') {
      merged.push({ ...turn, parts: [...turn.parts], extra: turn.extra });
      continue;
    }
    for (const part of turn.parts) last.parts.push(part);
    const { extra } = turn;
    last.extra =
      last.extra && extra ? { ...extra, fields: { ...extra.fields, ...last.extra.fields } } : (last.extra ?? extra);
  }
  return merged;
};

/** A turn that may still grow. */
type Draft = Omit<Turn, 'parts' | 'extra'> & { readonly parts: Part[]; extra: Turn['extra'] };
