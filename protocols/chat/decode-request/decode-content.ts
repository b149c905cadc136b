import { fail, unsupported } from '../../../engine/model/fault.ts';
import type { JsonDraft, JsonObject } from '../../../engine/model/json/json.ts';
import type { CacheMark, Extra, ImagePart, ImageSource, Part, TextPart } from '../../../engine/model/request.ts';
import { reader } from '../../../engine/model/schema.ts';
import { type CacheControl, ImagePartBody, RefusalPartBody, TextPartBody } from './schema-request.ts';

const textBody = reader(TextPartBody);
const imageBody = reader(ImagePartBody);
const refusalBody = reader(RefusalPartBody);
const textMembers = new Set(['type', 'text', 'cache_control']);
const imageMembers = new Set(['type', 'image_url', 'cache_control']);
const imageUrlMembers = new Set(['url', 'detail']);
const refusalMembers = new Set(['type', 'refusal']);

/** A content part's type: instructions hold text only, users and tools images too, the assistant refusals. */
type PartKind = 'text' | 'image_url' | 'refusal';

/**
 * A message's `content` → parts. `at` is its path. Throws for a kind that the endpoint or the role doesn't accept.
 */
export const decodeContent = (
  content: string | readonly JsonObject[],
  at: string,
  kinds: readonly PartKind[],
): Part[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content, at }];
  return content.map((part, index) => decodePart(part, `${at}[${index}]`, kinds));
};

/** Decodes instructions, which hold text only. */
export const decodeTexts = (content: string | readonly JsonObject[], at: string): TextPart[] =>
  decodeContent(content, at, ['text']).filter((part) => part.type === 'text');

/** `cache_control` → cache mark. */
export const cacheMark = (control: CacheControl | null | undefined): CacheMark | undefined =>
  control ? { ...(control.ttl && { ttl: control.ttl }) } : undefined;

const decodePart = (part: JsonObject, at: string, kinds: readonly PartKind[]): Part => {
  const kind = kinds.find((candidate) => candidate === part.type);
  switch (kind) {
    case 'text': {
      const { text, cache_control } = textBody.read(part, at);
      return { type: 'text', text, at, cache: cacheMark(cache_control), extra: extraOf(part, textMembers, at) };
    }
    case 'image_url':
      return decodeImage(part, at);
    case 'refusal':
      return {
        type: 'refusal',
        text: refusalBody.read(part, at).refusal,
        at,
        extra: extraOf(part, refusalMembers, at),
      };
    case undefined:
      return refusePart(part, at);
    default:
      return kind satisfies never;
  }
};

const refusePart = (part: JsonObject, at: string): never => {
  const param = `${at}.type`;
  if (typeof part.type !== 'string') return fail('invalid-request', `${param} must be string.`, { param });
  return unsupported(param, `${param} "${part.type.slice(0, 64)}" is not supported here.`);
};

const decodeImage = (part: JsonObject, at: string): ImagePart => {
  const { image_url, cache_control } = imageBody.read(part, at);
  const inner = unknownMembers(image_url, imageUrlMembers);
  const outer = unknownMembers(part, imageMembers);
  return {
    type: 'image',
    source: imageSource(image_url.url, `${at}.image_url.url`),
    detail: image_url.detail ?? undefined,
    cache: cacheMark(cache_control),
    at,
    extra: inner || outer ? { wire: 'chat', at, fields: { ...outer, ...(inner && { image_url: inner }) } } : undefined,
  };
};

const imageSource = (url: string, param: string): ImageSource => {
  if (!/^data:/i.test(url)) return { kind: 'url', url };
  const comma = url.indexOf(',');
  const head = url.slice(5, Math.max(comma, 5));
  const [mediaType = '', ...options] = head.split(';');
  if (comma < 0 || mediaType === '' || options.at(-1)?.trim().toLowerCase() !== 'base64') {
    return fail('invalid-request', `${param} must be a URL or a data URL in base64 with a media type.`, { param });
  }
  return { kind: 'base64', mediaType, data: url.slice(comma + 1) };
};

/** The members of `value` outside `known`, without nulls; `undefined` when there are none. */
export const unknownMembers = (value: JsonObject, known: ReadonlySet<string>): JsonObject | undefined => {
  let rest: JsonDraft | undefined;
  for (const name in value) {
    const member = value[name];
    if (known.has(name) || member === null || member === undefined) continue;
    rest ??= {};
    rest[name] = member;
  }
  return rest;
};

/** The unmodelled members of a client's object. */
export const extraOf = (value: JsonObject, known: ReadonlySet<string>, at: string): Extra | undefined => {
  const fields = unknownMembers(value, known);
  return fields && { wire: 'chat', at, fields };
};

/** Throws the fault for a field that is supported only without `CHAT_STRICT`. */
export const unsupportedWhileStrict = (param: string, what = param): never =>
  unsupported(param, `${what} is not supported on this route unless CHAT_STRICT is false in the configuration.`);
