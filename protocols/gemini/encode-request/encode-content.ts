import type { RequestContext } from '../../../engine/model/context.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordExtraLoss } from '../../../engine/model/record-losses.ts';
import type { CacheMark, DocumentPart, Extra, Part, SearchResultPart } from '../../../engine/model/request.ts';
import { memberPath } from '../../../engine/model/schema.ts';
import { readableDocument } from '../../../engine/model/wire/readable-document.ts';
import type { GeminiDialect } from '../dialect.ts';
import { wireFormat } from '../tool-names.ts';
import { audioType, encodeMedia, takesData } from './encode-media.ts';

/** What the content encoders need. */
export interface ContentContext extends RequestContext {
  readonly dialect: GeminiDialect;
}

/**
 * Parts → wire parts, one for one; empty texts, which the vendor rejects, are left out. Reasoning, calls and results
 * are handled elsewhere. `at` is the path of parts without their own.
 */
export const encodeParts = (parts: readonly Part[], at: string, context: ContentContext): readonly JsonObject[] =>
  parts.flatMap((part) => encodePart(part, part.at ?? at, context));

const encodePart = (part: Part, at: string, context: ContentContext): readonly JsonObject[] => {
  const { losses } = context;
  dropMarks(part, at, losses);
  switch (part.type) {
    case 'text':
      if (part.citations && part.citations.length > 0) losses.drop(memberPath(at, 'citations'));
      return text(part.text);
    case 'refusal':
      losses.approximate(at, 'text');
      return text(part.text);
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto') losses.drop(memberPath(at, 'detail'));
      return [encodeMedia(part.source, at)];
    case 'document': {
      const readable = takesData(part.source) ? part : readableDocument(part);
      return readable.type === 'image' ? [encodeMedia(readable.source, at)] : encodeDocument(readable, at, context);
    }
    case 'audio':
      return [encodeMedia({ kind: 'base64', mediaType: audioType(part.format), data: part.data }, at)];
    case 'search-result':
      return encodeSearchResult(part, at, context);
    case 'opaque':
      if (part.wire === wireFormat) return [part.raw];
      losses.drop(at, 'specific to another wire format');
      return [];
    case 'thinking':
    case 'redacted-thinking':
    case 'tool-call':
    case 'tool-result':
      losses.drop(at, 'out of place');
      return [];
    default:
      return part satisfies never;
  }
};

const text = (value: string): readonly JsonObject[] => (value === '' ? [] : [{ text: value }]);

const encodeDocument = (part: DocumentPart, at: string, context: ContentContext): readonly JsonObject[] => {
  const { source } = part;
  if (part.cite) context.losses.drop(memberPath(at, 'citations'));
  const head = [part.title, part.context].filter((line) => line !== undefined && line !== '').join('\n');
  if (source.kind === 'text') {
    context.losses.approximate(at, 'text');
    return text(head === '' ? source.text : `${head}\n\n${source.text}`);
  }
  if (head !== '') context.losses.approximate(memberPath(at, 'title'), 'a text before the document');
  const content = source.kind === 'content' ? encodeParts(source.parts, at, context) : [encodeMedia(source, at)];
  return [...text(head), ...content];
};

const encodeSearchResult = (part: SearchResultPart, at: string, context: ContentContext): readonly JsonObject[] => {
  context.losses.approximate(at, 'text');
  if (part.cite) context.losses.drop(memberPath(at, 'citations'));
  return [...text(`${part.title}\n${part.source}`.trim()), ...encodeParts(part.content, at, context)];
};

/** Records what this format can't hold on any node: cache marks, and members of other formats. */
export const dropMarks = (
  node: { readonly cache?: CacheMark | undefined; readonly extra?: Extra | undefined },
  at: string,
  losses: Losses,
): void => {
  if (node.cache) losses.drop(memberPath(at, 'cache_control'));
  recordExtraLoss(node.extra, losses);
};
