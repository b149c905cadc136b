import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Signature } from '../../../engine/model/reasoning/signature.ts';
import type { Extra, Part, TextPart, Turn } from '../../../engine/model/request.ts';
import { extraOf } from './decode-content.ts';
import type { DecodedTools } from './decode-tools.ts';
import type { ConfigurationItem } from './schema-request.ts';

/** A turn that may still grow. */
export interface DraftTurn {
  readonly role: Turn['role'];
  readonly parts: Part[];
  readonly at: string;
  readonly extra?: Turn['extra'];
  /** Items of the same role may follow. */
  readonly open: boolean;
}

/** The state of a conversation while its items are decoded. */
export interface Conversation {
  readonly names: Pick<DecodedTools, 'nameOf' | 'builtInName' | 'namesIn'>;
  readonly system: TextPart[];
  readonly turns: DraftTurn[];
  /** Ids of the items in the input. */
  readonly ids: ReadonlySet<string>;
  /** Ids of the calls so far. */
  readonly calls: Set<string>;
  /** Ids of the vendor's own calls so far. */
  readonly hostedCalls: Set<string>;
  /** The call ids of built-in tools' calls, by the id of the item. */
  readonly callIdOfItem: Map<string, string>;
  /** Calls without an output so far that may get one turns later, by id: their paths. */
  readonly pending: Map<string, string>;
  /** Calls of this kind whose turn is over. */
  readonly late: Set<string>;
  /** The server keeps earlier turns: outputs may belong to calls outside the input. */
  readonly stateful: boolean;
  readonly callSignatures: Map<string, Signature>;
  /** The settings that items changed last. */
  settings: Settings;
}

/** Settings in the items of a conversation. */
export interface Settings {
  readonly reasoning?: ConfigurationItem['reasoning'];
  readonly text?: ConfigurationItem['text'];
  /** The path of the last format. */
  readonly formatAt?: string;
}

/** Adds parts to the last turn if it is open and has the role, otherwise to a new turn. */
export const append = (
  state: Conversation,
  role: 'user' | 'assistant',
  at: string,
  ...parts: readonly Part[]
): void => {
  if (role === 'assistant' && state.turns.at(-1)?.role !== role) answerPending(state);
  const last = state.turns.at(-1);
  if (last?.role === role && last.open) last.parts.push(...parts);
  else state.turns.push({ role, parts: [...parts], at, open: true });
};

/** Adds a turn that no item extends. */
export const addTurn = (state: Conversation, turn: Omit<DraftTurn, 'open'>): void => {
  answerPending(state);
  state.turns.push({ ...turn, open: false });
};

/**
 * Answers the calls whose outputs may come turns later, since other formats require an answer at once. Only then is the next
 * turn's conversation the same up to here.
 */
export const answerPending = (state: Conversation): void => {
  for (const [id, at] of [...state.pending]) {
    state.pending.delete(id);
    state.late.add(id);
    const text = 'Still running. The result follows later in the conversation.';
    const content: readonly TextPart[] = [{ type: 'text', text, at }];
    const extra: Extra = {
      wire: 'responses',
      at,
      fields: {},
      original: { objects: [], became: 'answered as still running' },
    };
    append(state, 'user', at, { type: 'tool-result', id, content, at, extra });
  }
};

/**
 * What a node keeps of the item for which it stands: the item, for this format, and the members that it doesn't represent.
 * `became`: what other formats get instead, if that is less.
 */
export const extraFor = (item: JsonObject, read: readonly string[], at: string, became?: string): Extra => ({
  wire: 'responses',
  at,
  fields: extraOf(item, ['type', 'id', 'status', ...read], at)?.fields ?? {},
  original: { objects: [item], became },
});

/** The parts that stand for an item, which the first of them keeps. */
export const standIn = <P extends Part>(parts: readonly P[], extra: Extra): readonly P[] =>
  parts.map((part, index) => ({
    ...part,
    extra:
      index === 0 ? extra : { wire: 'responses', at: extra.at, fields: {}, ...part.extra, original: { objects: [] } },
  }));
