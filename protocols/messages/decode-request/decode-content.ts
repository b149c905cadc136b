import type { Static, TObject } from 'typebox';
import { fail } from '../../../engine/model/fault.ts';
import {
  hasKeptDigits,
  isJsonObject,
  type Json,
  type JsonDraft,
  type JsonObject,
  writeJson,
} from '../../../engine/model/json/json.ts';
import { readSignature } from '../../../engine/model/reasoning/signature.ts';
import type {
  Base64Source,
  CacheMark,
  DocumentPart,
  Extra,
  FileSource,
  ImageSource,
  OpaquePart,
  Part,
  RedactedThinkingPart,
  SearchResultPart,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  UrlSource,
} from '../../../engine/model/request.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import { decodeCitation } from '../citations.ts';
import {
  Base64Data,
  ContentData,
  type DecodedBlock,
  DocumentBlock,
  FileData,
  ImageBlock,
  RedactedThinkingBlock,
  SearchResultBlock,
  TextBlock,
  TextData,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
  Typed,
  UrlData,
} from '../schema-request.ts';

/** `content` of a message or tool result → parts. Throws an `invalid-request` fault that names the member. */
export const decodeContent = (content: string | readonly unknown[], at: string): readonly Part[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content, at }]
    : content.map((block, index) => decodePart(block, memberPath(at, index)));

/** As `decodeContent`, for content that must be text. */
export const decodeTexts = (content: string | readonly unknown[], at: string): readonly TextPart[] =>
  decodeContent(content, at).map((part) =>
    part.type === 'text' ? part : fail('invalid-request', `${part.at} must be a text block.`, { param: part.at }),
  );

const typed = reader(Typed);

const decodePart = (raw: unknown, at: string): Part => {
  const block = typed.read(raw, at);
  const decode = decoders.get(block.type) ?? opaque;
  return decode(block, at);
};

const opaque = (raw: JsonObject, at: string): OpaquePart => ({ type: 'opaque', wire: 'messages', raw, at });

/** A validated object, with the members outside its schema. */
export interface ReadNode<T> {
  readonly value: T;
  readonly extra: Extra | undefined;
}

/**
 * Creates a reader that also keeps members outside the schema, for the encoder of the same format. It throws an
 * `invalid-request` fault that names the member.
 */
export const nodeReader = <const S extends TObject>(schema: S) => {
  const { read } = reader(schema);
  const known = new Set(Object.keys(schema.properties));
  return (raw: unknown, at: string): ReadNode<Static<S>> => {
    const value = read(raw, at);
    return { value, extra: isJsonObject(raw) ? unread(raw, known, at) : undefined };
  };
};

const unread = (raw: JsonObject, known: ReadonlySet<string>, at: string): Extra | undefined => {
  let fields: JsonDraft | undefined;
  for (const name in raw) {
    if (known.has(name) && !(name === 'cache_control' && saysMore(raw[name]))) continue;
    fields ??= {};
    fields[name] = raw[name];
  }
  return fields && { wire: 'messages', at, fields };
};

/** Whether a cache mark has unmodelled members. */
const saysMore = (control: Json | undefined): boolean =>
  isJsonObject(control) &&
  !Object.entries(control).every(
    ([name, value]) =>
      (name === 'type' && value === 'ephemeral') ||
      (name === 'ttl' && (value === '5m' || value === '1h' || value === null)),
  );

const readText = nodeReader(TextBlock);
const decodeText = (raw: JsonObject, at: string): TextPart => {
  const { value, extra } = readText(raw, at);
  const cache = cacheMark(value.cache_control);
  return { type: 'text', text: value.text, cache, citations: value.citations?.map(decodeCitation), at, extra };
};

const readImage = nodeReader(ImageBlock);
const decodeImage = (raw: JsonObject, at: string): Part => {
  const { value, extra } = readImage(raw, at);
  const source = decodeImageSource(value.source, memberPath(at, 'source'));
  if (!source) return opaque(raw, at);
  return {
    type: 'image',
    source,
    cache: cacheMark(value.cache_control),
    at,
    extra: withSource(extra, value.source, at),
  };
};

const base64 = reader(Base64Data);
const url = reader(UrlData);
const file = reader(FileData);

/** `undefined` for an unknown kind of source. */
const decodeImageSource = (source: JsonObject, at: string): Base64Source | UrlSource | FileSource | undefined => {
  switch (source.type) {
    case 'base64': {
      const { media_type: mediaType, data } = base64.read(source, at);
      return { kind: 'base64', mediaType, data };
    }
    case 'url':
      return { kind: 'url', url: url.read(source, at).url };
    case 'file':
      return { kind: 'file', id: file.read(source, at).file_id, wire: 'messages' };
    default:
      return undefined;
  }
};

const readDocument = nodeReader(DocumentBlock);
const decodeDocument = (raw: JsonObject, at: string): Part => {
  const { value, extra } = readDocument(raw, at);
  const source = decodeDocumentSource(value.source, memberPath(at, 'source'));
  if (!source) return opaque(raw, at);
  return {
    type: 'document',
    source,
    title: value.title ?? undefined,
    context: value.context ?? undefined,
    cite: value.citations?.enabled ?? undefined,
    cache: cacheMark(value.cache_control),
    at,
    extra: withSource(extra, value.source, at),
  };
};

const sourceMembers: ReadonlySet<string> = new Set(['type', 'media_type', 'data', 'url', 'file_id', 'content']);

/** Keeps a source with unmodelled members whole. */
const withSource = (extra: Extra | undefined, source: JsonObject, at: string): Extra | undefined =>
  Object.keys(source).every((name) => sourceMembers.has(name))
    ? extra
    : { wire: 'messages', at, fields: { ...extra?.fields, source } };

const text = reader(TextData);
const contents = reader(ContentData);
const decodeDocumentSource = (source: JsonObject, at: string): DocumentPart['source'] | ImageSource | undefined => {
  switch (source.type) {
    case 'text':
      return { kind: 'text', text: text.read(source, at).data };
    case 'content':
      return {
        kind: 'content',
        parts: decodeContent(contents.read(source, at).content, memberPath(at, 'content')),
      };
    default:
      return decodeImageSource(source, at);
  }
};

const readSearchResult = nodeReader(SearchResultBlock);
const decodeSearchResult = (raw: JsonObject, at: string): SearchResultPart => {
  const { value, extra } = readSearchResult(raw, at);
  return {
    type: 'search-result',
    source: value.source,
    title: value.title,
    content: decodeTexts(value.content, memberPath(at, 'content')),
    cite: value.citations?.enabled ?? undefined,
    cache: cacheMark(value.cache_control),
    at,
    extra,
  };
};

const readThinking = nodeReader(ThinkingBlock);
const decodeThinking = (raw: JsonObject, at: string): ThinkingPart => {
  const { value, extra } = readThinking(raw, at);
  const signature = value.signature ? readSignature(value.signature, 'messages') : undefined;
  return { type: 'thinking', text: value.thinking, signature, at, extra };
};

const readRedacted = nodeReader(RedactedThinkingBlock);
const decodeRedacted = (raw: JsonObject, at: string): RedactedThinkingPart => {
  const { value, extra } = readRedacted(raw, at);
  return { type: 'redacted-thinking', signature: readSignature(value.data, 'messages'), at, extra };
};

const readToolUse = nodeReader(ToolUseBlock);
const decodeToolUse = (raw: JsonObject, at: string): ToolCallPart => {
  const { value, extra } = readToolUse(raw, at);
  const { id, name } = value;
  // As text, numbers keep their digits even if a transformer copies the request.
  const input = hasKeptDigits(value.input) ? writeJson(value.input) : value.input;
  return { type: 'tool-call', id, name, input, cache: cacheMark(value.cache_control), at, extra };
};

const readToolResult = nodeReader(ToolResultBlock);
const decodeToolResult = (raw: JsonObject, at: string): ToolResultPart => {
  const { value, extra } = readToolResult(raw, at);
  return {
    type: 'tool-result',
    id: value.tool_use_id,
    content: decodeContent(value.content ?? [], memberPath(at, 'content')),
    isError: value.is_error ?? undefined,
    cache: cacheMark(value.cache_control),
    at,
    extra,
  };
};

const decoderOf: Readonly<Record<DecodedBlock, (raw: JsonObject, at: string) => Part>> = {
  text: decodeText,
  image: decodeImage,
  document: decodeDocument,
  search_result: decodeSearchResult,
  thinking: decodeThinking,
  redacted_thinking: decodeRedacted,
  tool_use: decodeToolUse,
  tool_result: decodeToolResult,
};

const decoders: ReadonlyMap<string, (raw: JsonObject, at: string) => Part> = new Map(Object.entries(decoderOf));

/** Whether blocks of this type become parts of their own. */
export const isDecoded = (type: string): boolean => decoders.has(type);

/** `cache_control` → cache mark; absent if null. */
export const cacheMark = (control: JsonObject | null | undefined): CacheMark | undefined => {
  if (!control) return undefined;
  return control.ttl === '5m' || control.ttl === '1h' ? { ttl: control.ttl } : {};
};
