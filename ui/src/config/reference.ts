/** Whether a key's text is a reference to the environment (`$NAME`, `${NAME}`), and so no secret. */
const isReference = (text: string): boolean => /^\s*\$(?:\w+|\{\w+\})\s*$/.test(text);

/** Whether a key's text is a reference, or the beginning of one. */
export const isReferenceSoFar = (text: string): boolean => /^(?:\$(?:\w*|\{\w*\}?))?$/.test(text.trim());

/** Whether a text holds a key in plain text. */
export const isLiteralKey = (text: string): boolean => text.trim() !== '' && !isReference(text);
