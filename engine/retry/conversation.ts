import type { ModelRequest } from '../model/request.ts';

/** How much of a text tells conversations apart: their first words differ, or the last ones of a long beginning do. */
const mostCharacters = 1_024;

/**
 * A number for the conversation that a request goes on with: from the client's own names for it, and the text of its first user
 * turn, which stays the same in all later ones. Two conversations may share it. Source of the hash: FNV-1a, 32 bits.
 */
export const conversationOf = ({ turns, promptCacheKey = '', user = '' }: ModelRequest): number => {
  const first = turns.find(({ role }) => role === 'user');
  const texts = first?.parts.map((part) => (part.type === 'text' ? part.text : '')) ?? [];
  return [promptCacheKey, user, ...texts].reduce(mix, 0x811c9dc5) >>> 0;
};

const mix = (hash: number, text: string): number => {
  let mixed = hash;
  for (let at = Math.max(0, text.length - mostCharacters); at < text.length; at += 1) {
    mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  }
  return mixed;
};

/** Whether the conversation has an answer already. */
export const hasHistory = ({ turns }: ModelRequest): boolean => turns.some(({ role }) => role === 'assistant');
