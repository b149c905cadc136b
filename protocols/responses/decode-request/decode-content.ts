import { fail } from '../../../engine/model/fault.ts';
import { isJsonObject, type Json, type JsonDraft } from '../../../engine/model/json/json.ts';
import type { Extra, Part } from '../../../engine/model/request.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import { decodeCitations } from '../citations.ts';
import { AudioContent, FileContent, ImageContent, RefusalContent, TextContent } from './schema-request.ts';

interface Content {
  readonly type: string;
}

const textReader = reader(TextContent);
const refusalReader = reader(RefusalContent);
const imageReader = reader(ImageContent);
const fileReader = reader(FileContent);
const audioReader = reader(AudioContent);

/**
 * Decodes the content of a message or tool output. Empty texts are left out. Throws an `invalid-request` fault that
 * names the member. Source: OpenAI API reference, "Create a model response", input content.
 */
export const decodeContent = (content: string | readonly Content[], at: string): readonly Part[] =>
  typeof content === 'string'
    ? content === ''
      ? []
      : [{ type: 'text', text: content, at }]
    : content.map((part, index) => decodePart(part, memberPath(at, index))).filter((part) => !isEmptyText(part));

const isEmptyText = (part: Part): boolean => part.type === 'text' && part.text === '' && part.cache === undefined;

const decodePart = (part: Content, at: string): Part => {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return decodeText(part, at);
    case 'refusal':
      return {
        type: 'refusal',
        text: refusalReader.read(part, at).refusal,
        ...node(part, ['type', 'refusal'], at),
      };
    case 'input_image':
      return decodeImage(part, at);
    case 'input_file':
      return decodeFile(part, at);
    case 'input_audio': {
      const { data, format } = audioReader.read(part, at).input_audio;
      return { type: 'audio', data, format, ...node(part, ['type', 'input_audio'], at) };
    }
    default:
      return fail('invalid-request', `${at}.type: content of type '${part.type}' is not known.`, {
        param: memberPath(at, 'type'),
      });
  }
};

const decodeText = (part: Content, at: string): Part => {
  const { text, annotations } = textReader.read(part, at);
  const citations = decodeCitations(annotations);
  return {
    type: 'text',
    text,
    ...(citations.length > 0 && { citations }),
    // Log probabilities of an earlier reply are no input for the next.
    ...node(part, ['type', 'text', 'annotations', 'logprobs'], at),
  };
};

const decodeImage = (part: Content, at: string): Part => {
  const { image_url: url, file_id: id, detail } = imageReader.read(part, at);
  return {
    type: 'image',
    source: url ? (readDataUrl(url) ?? { kind: 'url', url }) : { kind: 'file', id: id ?? needOne(at, 'image_url') },
    ...(detail && { detail }),
    ...node(part, ['type', 'image_url', 'file_id', 'detail'], at),
  };
};

const decodeFile = (part: Content, at: string): Part => {
  const { file_data: data, file_url: url, file_id: id, filename } = fileReader.read(part, at);
  const source = data
    ? (readDataUrl(data) ?? { kind: 'base64' as const, mediaType: 'application/pdf', data })
    : url
      ? { kind: 'url' as const, url }
      : { kind: 'file' as const, id: id ?? needOne(at, 'file_data') };
  return {
    type: 'document',
    source,
    ...(filename && { title: filename }),
    ...node(part, ['type', 'file_data', 'file_url', 'file_id', 'filename'], at),
  };
};

const needOne = (at: string, member: string): never =>
  fail('invalid-request', `${memberPath(at, member)} is required.`, { param: memberPath(at, member) });

/** `data:image/png;base64,…` → type and data; `undefined` for any other URL. */
const readDataUrl = (url: string) => {
  const comma = url.indexOf(',');
  const head = url.slice(0, comma);
  if (!/^data:/i.test(head) || !/;base64$/i.test(head)) return undefined;
  const mediaType = head.slice(5).split(';')[0] || 'text/plain';
  return { kind: 'base64' as const, mediaType, data: url.slice(comma + 1) };
};

/** Whether a cache mark has only modelled members. */
const isPlainMark = (mark: unknown): boolean =>
  isJsonObject(mark) && Object.entries(mark).every(([name, value]) => name === 'mode' && value === 'explicit');

const node = (part: object, read: readonly string[], at: string) => {
  const mark = 'prompt_cache_breakpoint' in part ? part.prompt_cache_breakpoint : undefined;
  const extra = extraOf(part, isPlainMark(mark) ? [...read, 'prompt_cache_breakpoint'] : read, at);
  return {
    at,
    ...(mark ? { cache: {} } : {}),
    ...(extra && { extra }),
  };
};

/** The members outside `read`, to be written back in this format; null counts as absent. */
export const extraOf = (value: object, read: readonly string[], at: string): Extra | undefined => {
  const fields: JsonDraft = {};
  for (const [name, member] of Object.entries(value)) {
    if (member !== null && member !== undefined && !read.includes(name)) fields[name] = asJson(member);
  }
  return Object.keys(fields).length > 0 ? { wire: 'responses', at, fields } : undefined;
};

const asJson = (value: unknown): Json => value as Json;
