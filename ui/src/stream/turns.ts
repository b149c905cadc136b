import { isJsonObject, type JsonObject } from '../api/json.ts';
import type { Role, ToolResult, Turn, TurnPart } from './conversation.ts';
import { textAt } from './wire-value.ts';

/** A content at a name, which is a text or a list of parts. */
export const contentAt = (
  value: JsonObject,
  name: string,
  read: (part: JsonObject) => readonly TurnPart[],
): readonly TurnPart[] => {
  const content = value[name];
  if (!Array.isArray(content)) return textParts(textAt(value, name));
  return content.flatMap((part) => (typeof part === 'string' ? textParts(part) : isJsonObject(part) ? read(part) : []));
};

/** A text as parts; an empty one has none. */
export const textParts = (text: string): readonly TurnPart[] => (text === '' ? [] : [{ type: 'text', text }]);

/** A thinking text as parts; an empty one has none. */
export const thinkingParts = (text: string): readonly TurnPart[] => (text === '' ? [] : [{ type: 'thinking', text }]);

/** A file as a part: by its name, else by what the protocol calls such a part. */
export const filePart = (name: string, type: string): TurnPart => ({ type: 'file', name: name || type });

/** A turn without parts is none. */
export const turnOf = (role: Role, parts: readonly TurnPart[]): readonly Turn[] =>
  parts.length === 0 ? [] : [{ role, parts }];

/**
 * Joins neighbouring turns of one role, and puts each tool's result into its call: the last one of that id before it, since some
 * clients use an id again. A turn of nothing but such results is dropped.
 */
export const joinTurns = (turns: readonly Turn[]): readonly Turn[] => {
  const joined: { readonly role: Role; readonly parts: TurnPart[] }[] = [];
  const calls = new Map<string, (result: ToolResult) => void>();
  for (const { role, parts } of turns) {
    const last = joined.at(-1);
    const turn = last?.role === role ? last : { role, parts: [] };
    if (turn !== last) joined.push(turn);
    for (const part of parts) {
      const answered = part.type === 'result' ? calls.get(part.id) : undefined;
      if (part.type === 'result' && answered) {
        answered(part.result);
        calls.delete(part.id);
        continue;
      }
      const at = turn.parts.push(part) - 1;
      if (part.type !== 'tool' || part.id === '') continue;
      calls.set(part.id, (result) => {
        turn.parts[at] = { ...part, result };
      });
    }
  }
  return joined.filter(({ parts }) => parts.length > 0);
};
