import type { ModelRequest, Part } from '../../model/request.ts';

/** Maximum characters of a text that are read. */
const maxLooked = 2_000;
/** Maximum number of named tools. */
const maxTools = 10;

/**
 * A title for a request, with its secrets unmasked: the last text of the last user turn, since agents put their boilerplate before it, or
 * the tools whose results it brings. `undefined`: it has neither.
 */
export const requestTitle = ({ turns }: Pick<ModelRequest, 'turns'>): string | undefined => {
  const last = turns.findLast(({ role }) => role === 'user');
  const texts = last?.parts.flatMap((part) => (part.type === 'text' ? [wordsOf(part.text)] : [])) ?? [];
  const text = texts.findLast((one) => one !== '' && !one.startsWith('<')) ?? '';
  if (text !== '') return text;
  const results =
    last?.parts.flatMap((part) => (part.type === 'tool-result' ? [part.id] : [])).slice(0, maxTools) ?? [];
  const calls = turns.flatMap(({ parts }) => parts.filter(isCall));
  const names = results.flatMap((id) => calls.findLast((call) => call.id === id)?.name ?? []);
  if (names.length > 0) return `tool result: ${[...new Set(names)].join(', ')}`;
  return texts.findLast((one) => one !== '');
};

/** Whole words: of a key that is cut, nothing would hide the rest. */
const wordsOf = (text: string): string => {
  const looked = text.slice(0, maxLooked).replaceAll(/\s+/g, ' ').trim();
  return text.length <= maxLooked ? looked : looked.slice(0, Math.max(0, looked.lastIndexOf(' ')));
};

const isCall = (part: Part): part is Extract<Part, { readonly type: 'tool-call' }> => part.type === 'tool-call';
