import type { Signature } from '../../engine/model/reasoning/signature.ts';
import type { Part, TextPart, Turn } from '../../engine/model/request.ts';
import type { DecodedTools } from './decode-tools.ts';

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
  readonly nameOf: DecodedTools['nameOf'];
  readonly system: TextPart[];
  readonly turns: DraftTurn[];
  /** Ids of the items in the input. */
  readonly ids: ReadonlySet<string>;
  /** Ids of the calls so far. */
  readonly calls: Set<string>;
  /** The server keeps earlier turns: outputs may belong to calls outside the input. */
  readonly stateful: boolean;
  readonly callSignatures: Map<string, Signature>;
}

/** Adds parts to the last turn if it is open and has the role, otherwise to a new turn. */
export const append = (
  state: Conversation,
  role: 'user' | 'assistant',
  at: string,
  ...parts: readonly Part[]
): void => {
  const last = state.turns.at(-1);
  if (last?.role === role && last.open) last.parts.push(...parts);
  else state.turns.push({ role, parts: [...parts], at, open: true });
};
