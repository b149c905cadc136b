import type { Losses } from '../../engine/model/loss.ts';
import type { Part, ToolCallPart, ToolResultPart, Turn } from '../../engine/model/request.ts';

/** Which result answers which call. */
export interface Results {
  readonly byCall: ReadonlyMap<ToolCallPart, ToolResultPart>;
  /** The results that answer one. */
  readonly taken: ReadonlySet<Part>;
}

/** Finds for each call the first result with its id that comes after it. Turns of one side must be merged already. */
export const findResults = (turns: readonly Turn[], losses: Losses): Results => {
  const waiting = new Map<string, { readonly call: ToolCallPart; readonly turn: number }[]>();
  const byCall = new Map<ToolCallPart, ToolResultPart>();
  const taken = new Set<Part>();
  for (const [index, { parts }] of turns.entries()) {
    for (const part of parts) {
      if (part.type === 'tool-call') {
        const same = waiting.get(part.id);
        if (same) same.push({ call: part, turn: index });
        else waiting.set(part.id, [{ call: part, turn: index }]);
      }
      if (part.type !== 'tool-result') continue;
      const asked = waiting.get(part.id)?.shift();
      if (!asked) continue;
      byCall.set(asked.call, part);
      taken.add(part);
      if (asked.turn !== index - 1) losses.approximate(part.at ?? 'messages', 'moved to its call');
    }
  }
  return { byCall, taken };
};
