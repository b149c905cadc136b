import type { Losses } from '../../../engine/model/loss.ts';
import type { Part, TextPart, ToolCallPart, ToolResultPart, Turn } from '../../../engine/model/request.ts';
import { memberPath } from '../../../engine/model/schema.ts';

/**
 * Orders tool calls and results as the vendor requires: each call has one result, at the start of the following user
 * turn; ids are unique and use plain characters. Consecutive turns of one role must be merged already. Source:
 * Anthropic API reference, "Tool use".
 */
export const pairCalls = (turns: readonly Turn[], losses: Losses): readonly Turn[] => {
  const results = resultsById(turns);
  const ids = new CallIds();
  const taken = new Set<Part>();
  const paired: Turn[] = [];
  let answers: Part[] = [];
  const settle = () => {
    if (answers.length > 0) paired.push({ role: 'user', parts: answers });
    answers = [];
  };
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'user') {
      const rest = turn.parts.flatMap((part) =>
        part.type === 'tool-result' ? convertStrayResult(part, taken, losses) : [part],
      );
      paired.push({ ...turn, parts: [...answers, ...rest] });
      answers = [];
      continue;
    }
    settle();
    if (turn.role === 'system') {
      paired.push(turn);
      continue;
    }
    const following = followingTurn(turns, index);
    const parts = turn.parts.map((part): Part => {
      if (part.type !== 'tool-call') return part;
      const id = ids.next(part.id);
      const found = takeAfter(results.get(part.id), index);
      if (found && found.turn !== following) losses.approximate(found.part.at ?? 'messages', 'moved to its call');
      if (found) taken.add(found.part);
      answers.push(found ? { ...found.part, id } : unanswered(part, id, losses));
      return { ...part, id };
    });
    paired.push({ ...turn, parts });
  }
  settle();
  return paired;
};

interface Found {
  readonly part: ToolResultPart;
  readonly turn: number;
}

/** The results of one id, in order; those before `next` are used or precede their call. */
interface Queue {
  readonly found: Found[];
  next: number;
}

const resultsById = (turns: readonly Turn[]): ReadonlyMap<string, Queue> => {
  const byId = new Map<string, Queue>();
  for (const [turn, { role, parts }] of turns.entries()) {
    if (role !== 'user') continue;
    for (const part of parts) {
      if (part.type !== 'tool-result') continue;
      const queue = byId.get(part.id);
      if (queue) queue.found.push({ part, turn });
      else byId.set(part.id, { found: [{ part, turn }], next: 0 });
    }
  }
  return byId;
};

/** Takes the first unused result after a turn. Calls come in order, so earlier results are never needed again. */
const takeAfter = (queue: Queue | undefined, index: number): Found | undefined => {
  if (!queue) return undefined;
  while (queue.next < queue.found.length) {
    const found = queue.found[queue.next++];
    if (found && found.turn > index) return found;
  }
  return undefined;
};

const followingTurn = (turns: readonly Turn[], index: number): number => {
  let next = index + 1;
  while (turns[next]?.role === 'system') next += 1;
  return next;
};

const unanswered = (call: ToolCallPart, id: string, losses: Losses): ToolResultPart => {
  losses.approximate(call.at ?? 'messages', 'answered as an error: the conversation holds no result');
  const content: TextPart[] = [{ type: 'text', text: 'This call was not carried out.' }];
  return { type: 'tool-result', id, content, isError: true };
};

/** A result without a call would be rejected; its content becomes plain content. */
const convertStrayResult = (part: ToolResultPart, taken: ReadonlySet<Part>, losses: Losses): readonly Part[] => {
  if (taken.has(part)) return [];
  losses.approximate(part.at ?? 'messages', 'as plain content: no call has its id');
  return part.content.length > 0
    ? [{ type: 'text', text: 'Result of a tool call:', at: part.at && memberPath(part.at, 'content') }, ...part.content]
    : [];
};

/** Assigns ids that the vendor accepts, each used once: `^[a-zA-Z0-9_-]+$`. */
class CallIds {
  readonly #used = new Set<string>();
  /** Uses of each plain id: some vendors restart numbering in each turn. */
  readonly #counts = new Map<string, number>();

  next(id: string): string {
    const plain = id.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call';
    let count = (this.#counts.get(plain) ?? 0) + 1;
    let wire = count === 1 ? plain : `${plain}_${count}`;
    while (this.#used.has(wire)) {
      count += 1;
      wire = `${plain}_${count}`;
    }
    this.#counts.set(plain, count);
    this.#used.add(wire);
    return wire;
  }
}

/**
 * The reasoning that a server accepts, with all other parts. Where the vendor signs, it must be the vendor's own: a foreign
 * signature is a 400. Others accept any text, but can't read what another vendor encrypted.
 */
export const carriedReasoning = (parts: readonly Part[], at: string, signs: boolean, losses: Losses): readonly Part[] =>
  parts.filter((part) => {
    if ((part.type !== 'thinking' && part.type !== 'redacted-thinking') || isNative(part)) return true;
    const path = part.at ?? at;
    if (!signs && part.type === 'thinking' && part.text !== '') {
      if (part.signature && part.signature.data !== '') losses.drop(`${path}.signature`);
      return true;
    }
    losses.drop(path, 'reasoning of another vendor');
    return false;
  });

/** The parts that this format supports: no empty text, no blocks of another format. `at` is the path of parts without their own. */
export const carriedParts = (parts: readonly Part[], at: string, losses: Losses): readonly Part[] =>
  parts.filter((part) => {
    if (part.type === 'text' || part.type === 'refusal') return part.text.trim() !== '';
    if (part.type === 'opaque' && part.wire !== 'messages') {
      losses.drop(part.at ?? at);
      return false;
    }
    return true;
  });

/** Whether a part is reasoning that this format's vendor signed. */
export const isNative = (part: Part): boolean =>
  (part.type === 'thinking' || part.type === 'redacted-thinking') &&
  part.signature?.format === 'messages' &&
  part.signature.data !== '';

/** Merges consecutive turns of one role. System turns stay as they are. */
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
