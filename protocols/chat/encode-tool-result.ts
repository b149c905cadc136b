import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import type { Part, ToolResultPart } from '../../engine/model/request.ts';
import { asContent, type ContentContext, encodeParts } from './encode-content.ts';
import { writeExtra } from './extra.ts';
import { cacheMember, refusesUnknown } from './takes.ts';

/**
 * A tool result → its tool message. Most vendors take only text there: media are put into `media`, and a note says so in
 * their place.
 */
export const encodeToolResult = (part: ToolResultPart, context: ContentContext, media: Part[]): JsonObject => {
  const { model, dialect, losses } = context;
  const at = part.at ?? 'messages';
  const parts: JsonObject[] = [];
  for (const inner of part.content) {
    const isMedia = inner.type === 'image' || (inner.type === 'document' && inner.source.kind === 'base64');
    if (!isMedia || (dialect.toolImages && inner.type === 'image')) parts.push(...encodeParts([inner], context));
    else {
      losses.approximate(inner.at ?? at, 'moved behind the tool message');
      parts.push({ type: 'text', text: `(The ${inner.type} is in the next user message.)` });
      media.push(inner);
    }
  }
  if (part.isError) {
    losses.approximate(`${at}.is_error`, 'a prefix of the text');
    parts.unshift({ type: 'text', text: 'Error: ' });
  }
  const message: JsonDraft = { role: 'tool', tool_call_id: part.id, content: resultContent(parts) };
  const mark = cacheMember(part.cache, dialect, model, part.at, losses);
  if (Object.keys(mark).length > 0) {
    const last = part.content.at(-1);
    // Both end at the same place; the outer one counts.
    if (last && 'cache' in last && last.cache) losses.drop(`${last.at ?? at}.cache_control`, 'one mark is enough');
    message.content = marked(parts, mark);
  }
  writeExtra(message, part.extra, losses, refusesUnknown(dialect));
  return message;
};

/** Texts run together as one string; the error prefix belongs to the text behind it. */
const resultContent = (parts: readonly JsonObject[]): string | readonly JsonObject[] => {
  if (!parts.every((part) => part.type === 'text' && Object.keys(part).length === 2)) return asContent(parts);
  const texts = parts.map((part) => part.text);
  return texts[0] === 'Error: ' ? `Error: ${texts.slice(1).join('\n\n')}` : texts.join('\n\n');
};

const marked = (parts: readonly JsonObject[], mark: JsonObject): readonly JsonObject[] => {
  const all = parts.length > 0 ? parts : [{ type: 'text', text: '(no output)' }];
  return all.map((part, index) => (index === all.length - 1 ? { ...part, ...mark } : part));
};
