/** Whether a key's text is a reference, or the beginning of one. */
export const isReferenceSoFar = (text: string): boolean => /^(?:\$(?:\w*|\{\w*\}?))?$/.test(text.trim());

/** Whether a text spells out a key: it is more than references to the environment (`$NAME`, `${NAME}`) after a header's scheme. */
export const isLiteralKey = (text: string): boolean =>
  text
    .replace(/\$(?:\$|[A-Za-z_]\w*|\{[A-Za-z_]\w*\})/g, (whole) => (whole === '$$' ? '$' : ''))
    .replace(/^\s*(?:bearer|basic|token)(?!\S)/i, '')
    .trim() !== '';

/** Whether a text stands for a secret that the gateway holds and doesn't send. */
export const isPlaceholder = (text: string): boolean => text.startsWith('••••');

/** The text after an edit of `before`: whatever changes a placeholder replaces it, since a part of one means nothing. */
export const editedSecret = (before: string, after: string): string => {
  if (!isPlaceholder(before) || !isPlaceholder(after)) return after;
  return after.startsWith(before) ? after.slice(before.length) : '';
};
