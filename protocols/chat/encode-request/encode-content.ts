import { unsupported } from '../../../engine/model/fault.ts';
import { isJsonObject, type JsonDraft, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordExtraLoss, recordMemberLoss } from '../../../engine/model/record-losses.ts';
import {
  type DocumentPart,
  type Extra,
  type ImagePart,
  mediaTypeOf,
  type Part,
  type SearchResultPart,
  type TextPart,
} from '../../../engine/model/request.ts';
import { memberPath } from '../../../engine/model/schema.ts';
import { readableDocument } from '../../../engine/model/wire/readable-document.ts';
import { type ChatDialect, cacheMember } from '../dialect.ts';

/** What the content encoders need. */
export interface ContentContext {
  readonly model: string;
  readonly dialect: ChatDialect;
  readonly losses: Losses;
}

/**
 * A user's parts → content parts. Throws an `unsupported` fault for media that the vendor or model doesn't accept.
 */
export const encodeParts = (parts: readonly Part[], context: ContentContext): JsonObject[] => {
  const content: JsonObject[] = [];
  for (const part of parts) {
    if (part.type === 'text') addText(part, context, content);
    else content.push(...encodePart(part, context));
  }
  return content;
};

/** Content parts as `content`: a single plain text, or all texts if the dialect requires it, as a string; otherwise a list. */
export const asContent = (parts: readonly JsonObject[], { plainText }: ChatDialect): string | readonly JsonObject[] => {
  if (parts.length > 1 && !plainText) return parts;
  return parts.every(isPlainText) ? parts.map(({ text }) => text).join('\n\n') : parts;
};

/** A text part without any other member. */
export const isPlainText = (part: JsonObject): boolean => {
  for (const name in part) if (name !== 'type' && name !== 'text') return false;
  return part.type === 'text';
};

/** Adds a text part; none for an empty text, which servers reject. */
export const addText = (part: TextPart, { dialect, losses }: ContentContext, content: JsonObject[]): void => {
  if (part.text === '') return;
  if (part.citations?.length) losses.drop(`${part.at ?? 'messages'}.citations`);
  const wire: JsonDraft = { type: 'text', text: part.text };
  if (part.cache) Object.assign(wire, cacheMember(part.cache, dialect, part.at, losses));
  writeExtra(wire, part.extra, losses, refusesUnknown(dialect));
  content.push(wire);
};

const encodePart = (part: Exclude<Part, TextPart>, context: ContentContext): JsonObject[] => {
  const { losses, dialect } = context;
  const at = part.at ?? 'messages';
  switch (part.type) {
    case 'image':
      return [encodeImage(part, context)];
    case 'document': {
      const readable = readableDocument(part);
      return readable.type === 'image' ? [encodeImage(readable, context)] : encodeDocument(readable, context);
    }
    case 'audio':
      if (!dialect.audio) return unsupported(at, `${at}: this provider accepts no audio.`);
      return [{ type: 'input_audio', input_audio: { data: part.data, format: part.format } }];
    case 'search-result':
      return [encodeSearchResult(part, context)];
    case 'refusal':
      losses.approximate(at, 'text');
      recordExtraLoss(part.extra, losses);
      return [{ type: 'text', text: part.text }];
    case 'tool-result':
    case 'tool-call':
    case 'thinking':
    case 'redacted-thinking':
    case 'opaque':
      losses.drop(at);
      recordExtraLoss(part.extra, losses);
      return [];
    default:
      return part satisfies never;
  }
};

const encodeImage = (part: ImagePart, { model, dialect, losses }: ContentContext): JsonObject => {
  const at = part.at ?? 'messages';
  const { source } = part;
  if (!dialect.images) return unsupported(at, `${at}: the model ${model} accepts no images.`);
  if (source.kind === 'file') return unsupported(at, `${at}: a file of another vendor can't be sent on.`);
  if (source.kind === 'url' && !dialect.imageUrls) {
    return unsupported(at, `${at}: this provider accepts no images by URL; send the image's data.`);
  }
  if (part.detail === 'original') losses.approximate(`${at}.detail`, 'auto');
  const url = source.kind === 'url' ? source.url : `data:${mediaTypeOf(source.mediaType)};base64,${source.data}`;
  const asked = part.detail === 'original' ? 'auto' : part.detail;
  const detail = dialect.omitsDefaults && asked === 'auto' ? undefined : asked;
  const wire: JsonDraft = { type: 'image_url', image_url: { url, ...(detail && { detail }) } };
  Object.assign(wire, cacheMember(part.cache, dialect, part.at, losses));
  writeExtra(wire, part.extra, losses, refusesUnknown(dialect));
  return wire;
};

const encodeDocument = (part: DocumentPart, context: ContentContext): JsonObject[] => {
  const { dialect, losses } = context;
  const at = part.at ?? 'messages';
  const { source } = part;
  if (part.cite) losses.drop(`${at}.citations`);
  const mark = cacheMember(part.cache, dialect, part.at, losses);
  switch (source.kind) {
    case 'base64': {
      if (!dialect.files || mediaTypeOf(source.mediaType) !== 'application/pdf') {
        return unsupported(at, `${at}: this provider accepts no ${source.mediaType} documents.`);
      }
      if (part.context !== undefined) losses.drop(`${at}.context`);
      const file = { filename: part.title ?? 'document.pdf', file_data: `data:application/pdf;base64,${source.data}` };
      const wire: JsonDraft = { type: 'file', file, ...mark };
      writeExtra(wire, part.extra, losses, refusesUnknown(dialect));
      return [wire];
    }
    case 'text':
      losses.approximate(at, 'text');
      recordExtraLoss(part.extra, losses);
      return [{ type: 'text', text: headed(part, source.text), ...mark }];
    case 'content': {
      losses.approximate(at, 'its content');
      recordExtraLoss(part.extra, losses);
      const head = headed(part, '').trim();
      const parts = [...(head === '' ? [] : [{ type: 'text', text: head }]), ...encodeParts(source.parts, context)];
      return parts.map((wire, index) => (index === parts.length - 1 ? { ...wire, ...mark } : wire));
    }
    case 'url':
    case 'file':
      return unsupported(
        at,
        `${at}: this provider accepts no documents by ${source.kind === 'url' ? 'URL' : 'file id'}.`,
      );
    default:
      return source satisfies never;
  }
};

const headed = ({ title, context }: DocumentPart, text: string): string =>
  [title, context, text].filter((piece) => piece !== undefined && piece !== '').join('\n\n');

const encodeSearchResult = (part: SearchResultPart, { dialect, losses }: ContentContext): JsonObject => {
  const at = part.at ?? 'messages';
  losses.approximate(at, 'text');
  recordExtraLoss(part.extra, losses);
  const text = [`${part.title} (${part.source})`, ...part.content.map((piece) => piece.text)].join('\n\n');
  return { type: 'text', text, ...cacheMember(part.cache, dialect, part.at, losses) };
};

/**
 * Writes unmodelled members of this format back into `target`: objects are merged, lists appended. Members of other
 * formats, rejected ones and duplicates become losses.
 */
export const writeExtra = (
  target: JsonDraft,
  extra: Extra | undefined,
  losses: Losses,
  refuses: (name: string) => boolean = () => false,
): void => {
  if (!extra) return;
  if (extra.wire !== 'chat') {
    recordExtraLoss(extra, losses);
    return;
  }
  for (const [name, value] of Object.entries(extra.fields)) {
    const there = target[name];
    if (refuses(name)) recordMemberLoss(memberPath(extra.at, name), value, losses);
    else if (there === undefined) target[name] = value;
    else if (isJsonObject(there) && isJsonObject(value)) target[name] = { ...value, ...there };
    else if (Array.isArray(there) && Array.isArray(value)) target[name] = [...value, ...there];
    else recordMemberLoss(memberPath(extra.at, name), value, losses);
  }
  recordExtraLoss(extra.outer, losses);
};

/** Whether the vendor rejects unknown members of messages and tools. */
export const refusesUnknown = ({ acceptedExtra }: ChatDialect): (() => boolean) =>
  acceptedExtra === undefined ? takesAny : takesNone;

const takesAny = (): boolean => false;

const takesNone = (): boolean => true;
