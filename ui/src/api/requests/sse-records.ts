/** One record of a `text/event-stream`. */
export interface SseRecord {
  /** The `event:` line; empty where there is none. */
  readonly event: string;
  readonly data: string;
}

/**
 * Reads records from text that comes in pieces. A comment is no record; `onComment` gets its text. Source: HTML standard, "Server-sent
 * events".
 */
export const sseReader = (onComment?: (text: string) => void): ((text: string) => readonly SseRecord[]) => {
  let rest = '';
  return (text) => {
    rest += text;
    // A line feed may still follow a carriage return that ends the piece.
    const whole = rest.endsWith('\r') ? rest.slice(0, -1) : rest;
    const blocks = whole.split(/\r\n\r\n|\n\n|\r\r/);
    const last = blocks.pop() ?? '';
    rest = last + rest.slice(whole.length);
    return blocks.flatMap((block) => readBlock(block, onComment));
  };
};

const readBlock = (block: string, onComment?: (text: string) => void): readonly SseRecord[] => {
  let event = '';
  const data: string[] = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
    else if (name === '' && line !== '') onComment?.(value);
  }
  return data.length > 0 || event !== '' ? [{ event, data: data.join('\n') }] : [];
};
