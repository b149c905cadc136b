/** Turns a message that follows a path into a sentence. */
export const sentence = (message: string): string => {
  const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  return /[.!?]$/.test(text) ? text : `${text}.`;
};
