import Type from 'typebox';
import type { CacheMark, ModelRequest, Part, Tool, Turn } from '../engine/model/request.ts';
import { transformer } from '../engine/model/transformer.ts';

/**
 * Sets cache marks for clients that send none. Vendors take four: the ends of the tools, of the system prompt and of the last two
 * user messages. A prefix that was marked stays the same from turn to turn, so the next request reads it from the cache.
 */
export const cachepoints = transformer({
  name: 'cachepoints',
  about: "Sets marks for the vendor's prompt cache, for clients that set none.",
  options: Type.Object({
    ttl: Type.Optional(
      Type.Union([Type.Literal('5m'), Type.Literal('1h')], {
        description: "How long the vendor keeps a prefix after its last use. Absent: the vendor's default.",
      }),
    ),
  }),
  request: (request, { ttl }) => (hasMarks(request) ? request : withMarks(request, ttl === undefined ? {} : { ttl })),
});

/** Clients that set marks know best where. */
const hasMarks = ({ cache, system, tools, turns }: ModelRequest): boolean =>
  cache !== undefined ||
  system.some(isMarked) ||
  tools.some((tool) => 'cache' in tool && tool.cache !== undefined) ||
  turns.some(({ parts }) => parts.some(isMarked));

const isMarked = (part: Part): boolean =>
  ('cache' in part && part.cache !== undefined) || ('content' in part && part.content.some(isMarked));

const withMarks = (request: ModelRequest, cache: CacheMark): ModelRequest => ({
  ...request,
  tools: markLast(request.tools, (tool) => markedTool(tool, cache)) ?? request.tools,
  system: markLast(request.system, (part) => markedPart(part, cache)) ?? request.system,
  turns: markMessages(request.turns, cache),
});

/** Ends of messages that are marked: this request's, and the one that the request before marked. */
const messages = 2;

/** User turns without an assistant's between them are one message. */
const markMessages = (turns: readonly Turn[], cache: CacheMark): readonly Turn[] => {
  const marked = [...turns];
  let left = messages;
  let isOpen = true;
  for (let index = turns.length - 1; index >= 0 && left > 0; index -= 1) {
    const turn = turns[index];
    if (turn?.role === 'assistant') isOpen = true;
    if (turn?.role !== 'user' || !isOpen) continue;
    const parts = markLast(turn.parts, (part) => markedPart(part, cache));
    if (!parts) continue;
    marked[index] = { ...turn, parts };
    isOpen = false;
    left -= 1;
  }
  return marked;
};

/** The list with its last item marked that takes a mark; `undefined` if none does. */
const markLast = <T>(items: readonly T[], mark: (item: T) => T | undefined): readonly T[] | undefined => {
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index];
    const marked = item === undefined ? undefined : mark(item);
    if (marked !== undefined) return items.with(index, marked);
  }
  return undefined;
};

const markedTool = (tool: Tool, cache: CacheMark): Tool | undefined =>
  tool.type === 'function' ? { ...tool, cache } : undefined;

/** Vendors reject a mark on an empty text. */
const markedPart = <T extends Part>(part: T, cache: CacheMark): T | undefined => {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? undefined : { ...part, cache };
    case 'image':
    case 'document':
    case 'search-result':
    case 'tool-result':
      return { ...part, cache };
    case 'audio':
    case 'refusal':
    case 'thinking':
    case 'redacted-thinking':
    case 'tool-call':
    case 'opaque':
      return undefined;
  }
};
