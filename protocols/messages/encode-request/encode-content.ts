import type { RequestContext } from '../../../engine/model/context.ts';
import { fail } from '../../../engine/model/fault.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordExtraLoss } from '../../../engine/model/record-losses.ts';
import {
  type CacheMark,
  type Citation,
  type DocumentPart,
  type Extra,
  type ImagePart,
  type ImageSource,
  inputObject,
  mediaTypeOf,
  type Part,
  type SearchResultPart,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
} from '../../../engine/model/request.ts';
import { readableDocument } from '../../../engine/model/wire/readable-document.ts';
import { encodeCitation } from '../citations.ts';
import { wireCallId, wireName } from '../tool-names.ts';
import { isUnsealedCitation } from '../unsealed-searches.ts';
import { carriedParts, isNative } from './encode-messages.ts';

/** Parts → content blocks. Throws an `unsupported` fault for content that would get lost silently. */
export const encodeParts = (parts: readonly Part[], at: string, context: RequestContext): readonly JsonObject[] =>
  carriedParts(parts, at, context.losses).map((part) => ({
    ...encodePart(part, part.at ?? at, context),
    ...ownExtra(part.extra, context.losses),
  }));

const encodePart = (part: Part, at: string, context: RequestContext): JsonObject => {
  switch (part.type) {
    case 'text':
      return encodeText(part, at, context);
    case 'refusal':
      context.losses.approximate(at, 'as text');
      return { type: 'text', text: part.text };
    case 'image':
      return encodeImage(part, at, context);
    case 'document': {
      const readable = readableDocument(part);
      return readable.type === 'image' ? encodeImage(readable, at, context) : encodeDocument(readable, at, context);
    }
    case 'search-result':
      return encodeSearchResult(part, at, context);
    case 'thinking':
      return { type: 'thinking', thinking: part.text, signature: isNative(part) ? part.signature?.data : '' };
    case 'redacted-thinking':
      return { type: 'redacted_thinking', data: part.signature.data };
    case 'tool-call':
      return encodeCall(part, at, context);
    case 'tool-result':
      return encodeResult(part, at, context);
    case 'opaque':
      return part.raw;
    case 'audio':
      return fail('unsupported', `${at} can't be sent to this provider: it accepts no audio.`, { param: at });
    default:
      return part satisfies never;
  }
};

const encodeText = ({ text, cache, citations }: TextPart, at: string, { losses }: RequestContext): JsonObject => {
  const cited = citations?.flatMap((citation) => sealedCitation(citation, at, losses));
  return {
    type: 'text',
    text,
    citations: cited && cited.length > 0 ? cited : undefined,
    cache_control: cacheControl(cache),
  };
};

/** A citation as the vendor takes it back; none of its own form that it can't open. */
const sealedCitation = (citation: Citation, at: string, losses: Losses): readonly JsonObject[] => {
  if (citation.type === 'url' && citation.raw?.wire === 'messages' && isUnsealedCitation(citation.raw.value)) {
    losses.drop(`${at}.citations`);
    return [];
  }
  return [encodeCitation(citation, at, losses)].filter((written) => written !== undefined);
};

const encodeImage = ({ source, detail, cache }: ImagePart, at: string, { losses }: RequestContext): JsonObject => {
  if (detail && detail !== 'auto') losses.drop(`${at}.detail`);
  return { type: 'image', source: encodeSource(source, at), cache_control: cacheControl(cache) };
};

const encodeSource = (source: ImageSource, at: string): JsonObject => {
  switch (source.kind) {
    case 'base64':
      return { type: 'base64', media_type: mediaTypeOf(source.mediaType), data: source.data };
    case 'url':
      return { type: 'url', url: source.url };
    case 'file':
      return source.wire === undefined || source.wire === 'messages'
        ? { type: 'file', file_id: source.id }
        : fail('unsupported', `${at} names a file that only another vendor has.`, { param: at });
    default:
      return source satisfies never;
  }
};

const encodeDocument = (part: DocumentPart, at: string, context: RequestContext): JsonObject => ({
  type: 'document',
  source: encodeDocumentSource(part.source, at, context),
  title: part.title,
  context: part.context,
  citations: part.cite === undefined ? undefined : { enabled: part.cite },
  cache_control: cacheControl(part.cache),
});

const encodeDocumentSource = (source: DocumentPart['source'], at: string, context: RequestContext): JsonObject => {
  if (source.kind === 'text') return plainText(source.text);
  if (source.kind === 'content') return { type: 'content', content: encodeParts(source.parts, at, context) };
  return encodeSource(source, at);
};

const plainText = (data: string): JsonObject => ({ type: 'text', media_type: 'text/plain', data });

const encodeSearchResult = (part: SearchResultPart, at: string, context: RequestContext): JsonObject => ({
  type: 'search_result',
  source: part.source,
  title: part.title,
  content: encodeParts(part.content, at, context),
  citations: part.cite === undefined ? undefined : { enabled: part.cite },
  cache_control: cacheControl(part.cache),
});

const encodeCall = (part: ToolCallPart, at: string, { names, losses }: RequestContext): JsonObject => {
  const input = inputObject(part.input);
  if (!input) losses.approximate(`${at}.input`, 'not a JSON object: sent as {}');
  if (part.signature) losses.drop(`${at}.signature`);
  return {
    type: 'tool_use',
    id: wireCallId(part.id, names),
    name: wireName(names, part.name),
    input: input ?? {},
    cache_control: cacheControl(part.cache),
  };
};

const encodeResult = (part: ToolResultPart, at: string, context: RequestContext): JsonObject => {
  const content = encodeParts(part.content, at, context);
  return {
    type: 'tool_result',
    tool_use_id: wireCallId(part.id, context.names),
    content: content.length > 0 ? content : undefined,
    is_error: part.isError,
    cache_control: cacheControl(part.cache),
  };
};

/** A node's unmodelled members of this format; those of another become losses. */
export const ownExtra = (extra: Extra | undefined, losses: Losses): JsonObject | undefined => {
  if (!extra || extra.wire === 'messages') return extra?.fields;
  recordExtraLoss(extra, losses);
  return undefined;
};

/** Cache mark → `cache_control`. */
export const cacheControl = (cache: CacheMark | undefined): JsonObject | undefined =>
  cache && { type: 'ephemeral', ttl: cache.ttl };
