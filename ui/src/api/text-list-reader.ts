/**
 * Reads a JSON list of texts from pieces of it: whatever texts a piece completes. The list must be written without spaces between
 * its elements; what follows anything else is never given.
 */
export const textListReader = (): ((piece: string) => readonly string[]) => {
  let rest = '';
  return (piece) => {
    rest += piece;
    const end = endOfTexts(rest);
    if (end === 0) return [];
    const list: readonly string[] = JSON.parse(`[${rest.slice(1, end)}]`);
    rest = rest.slice(end);
    return list;
  };
};

/** Behind the last text that is whole; what comes before each is a bracket or a comma. */
const endOfTexts = (text: string): number => {
  const element = /[[,]"[^"\\]*(?:\\.[^"\\]*)*"/y;
  let end = 0;
  while (element.test(text)) end = element.lastIndex;
  return end;
};
