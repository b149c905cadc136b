/** A run of text in a line. */
export interface Inline {
  readonly kind: 'plain' | 'code' | 'strong' | 'emphasis';
  readonly text: string;
}

/** A block of text. */
export type Block =
  | { readonly kind: 'paragraph' | 'heading'; readonly lines: readonly string[] }
  | { readonly kind: 'list'; readonly ordered: boolean; readonly start: number; readonly items: readonly string[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string };

/** Parses the Markdown that models use most, in one pass; anything else stays text. */
export const readBlocks = (text: string): readonly Block[] => {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; ) {
    const taken = readCode(lines, at) ?? readHeading(lines, at) ?? readList(lines, at) ?? readParagraph(lines, at);
    if (taken.block) blocks.push(taken.block);
    at += taken.lines;
  }
  return blocks;
};

interface Taken {
  readonly block?: Block;
  /** How many lines it spans; at least one. */
  readonly lines: number;
}

const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/s;
const heading = /^#{1,6}\s+(.*)$/s;
const listItem = /^\s*(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/s;

/** An unclosed block is still being streamed. */
const readCode = (lines: readonly string[], at: number): Taken | undefined => {
  const [, mark, language = ''] = fence.exec(lines[at] ?? '') ?? [];
  if (mark === undefined) return undefined;
  let end = at + 1;
  while (end < lines.length && !isClosing(lines[end] ?? '', mark)) end += 1;
  return {
    block: { kind: 'code', language: language.trim(), text: lines.slice(at + 1, end).join('\n') },
    lines: end - at + 1,
  };
};

const isClosing = (line: string, mark: string): boolean => {
  const trimmed = line.trim();
  return trimmed.startsWith(mark) && trimmed === trimmed.charAt(0).repeat(trimmed.length);
};

const readHeading = (lines: readonly string[], at: number): Taken | undefined => {
  const [, text] = heading.exec(lines[at] ?? '') ?? [];
  return text === undefined ? undefined : { block: { kind: 'heading', lines: [text] }, lines: 1 };
};

const readList = (lines: readonly string[], at: number): Taken | undefined => {
  const [first, , number] = listItem.exec(lines[at] ?? '') ?? [];
  if (first === undefined) return undefined;
  const ordered = number !== undefined;
  const items: string[] = [];
  let end = at;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? '';
    const [item, , itemNumber, text = ''] = listItem.exec(line) ?? [];
    if (item !== undefined && (itemNumber !== undefined) === ordered) items.push(text);
    // An indented line continues the item before it.
    else if (/^\s+\S/.test(line)) items.push(`${items.pop() ?? ''}\n${line.trim()}`);
    else break;
  }
  return { block: { kind: 'list', ordered, start: Number(number ?? 1), items }, lines: end - at };
};

const readParagraph = (lines: readonly string[], at: number): Taken => {
  let end = at;
  while (end < lines.length && lines[end]?.trim() !== '' && (end === at || !beginsOther(lines[end] ?? ''))) end += 1;
  if (end === at) return { lines: 1 };
  return { block: { kind: 'paragraph', lines: lines.slice(at, end) }, lines: end - at };
};

const beginsOther = (line: string): boolean => fence.test(line) || heading.test(line) || listItem.test(line);

/** Parses the inline code, strong and emphasized text of a line. */
export const readInlines = (line: string): readonly Inline[] => {
  const runs: Inline[] = [];
  let end = 0;
  for (const match of line.matchAll(/`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s](?:[^*]*[^*\s])?)\*/g)) {
    const [whole, code, strong, emphasis = ''] = match;
    if (match.index > end) runs.push({ kind: 'plain', text: line.slice(end, match.index) });
    if (code !== undefined) runs.push({ kind: 'code', text: code });
    else if (strong !== undefined) runs.push({ kind: 'strong', text: strong });
    else runs.push({ kind: 'emphasis', text: emphasis });
    end = match.index + whole.length;
  }
  if (end < line.length) runs.push({ kind: 'plain', text: line.slice(end) });
  return runs;
};
