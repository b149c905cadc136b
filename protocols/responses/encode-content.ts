import { fail } from '../../engine/model/fault.ts';
import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import type {
  CacheMark,
  Citation,
  DocumentPart,
  Extra,
  ImagePart,
  Part,
  TextPart,
} from '../../engine/model/request.ts';
import { writeAnnotation } from './annotations.ts';
import type { Encoding } from './encoding.ts';
import { keepExtra } from './keep-extra.ts';

/** A member of a request that a client of this protocol wrote: what it refers to is the vendor's own. */
export const isOwn = (at: string | undefined): boolean => at !== undefined && /^(input|instructions|tools)\b/.test(at);

/** Parts of a user's message or of a tool's output → content. Empty texts are left out. */
export const encodeContent = (parts: readonly Part[], encoding: Encoding): readonly JsonObject[] =>
  parts.flatMap((part) => {
    const content = encodePart(part, encoding);
    return content.map((one) => ({ ...one, ...node(part, encoding) }));
  });

const encodePart = (part: Part, encoding: Encoding): readonly JsonObject[] => {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [inputText(part.text)];
    case 'refusal':
      return [inputText(part.text)];
    case 'image':
      return [encodeImage(part)];
    case 'document':
      return encodeDocument(part, encoding);
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: part.data, format: part.format } }];
    case 'search-result': {
      encoding.losses.approximate(part.at ?? 'search_result', 'text');
      const content = part.content.map(({ text }) => text).join('\n');
      return [inputText(`${part.title}\n${part.source}\n${content}`)];
    }
    default:
      encoding.losses.drop(part.at ?? part.type, `no place in a ${encoding.place}`);
      return [];
  }
};

const inputText = (text: string): JsonObject => ({ type: 'input_text', text });

const encodeImage = ({ source, detail, at }: ImagePart): JsonObject => {
  const more = detail && { detail };
  switch (source.kind) {
    case 'base64':
      return { type: 'input_image', image_url: `data:${source.mediaType};base64,${source.data}`, ...more };
    case 'url':
      return { type: 'input_image', image_url: source.url, ...more };
    case 'file':
      return { type: 'input_image', file_id: ownFile(source.id, at), ...more };
    default:
      return source satisfies never;
  }
};

const ownFile = (id: string, at: string | undefined): string =>
  isOwn(at)
    ? id
    : fail('unsupported', `${at ?? 'content'}: a file of another vendor can't be sent to this one.`, {
        ...(at !== undefined && { param: at }),
      });

const encodeDocument = (part: DocumentPart, encoding: Encoding): readonly JsonObject[] => {
  const { source, title, context, cite, at } = part;
  if (cite) encoding.losses.drop(`${at ?? 'document'}.citations`);
  const before = context ? [inputText(context)] : [];
  if (context) encoding.losses.approximate(`${at ?? 'document'}.context`, 'text before the document');
  const named = title && { filename: title };
  switch (source.kind) {
    case 'base64': {
      const file_data = `data:${source.mediaType};base64,${source.data}`;
      return [...before, { type: 'input_file', filename: title ?? fileName(source.mediaType), file_data }];
    }
    case 'url':
      return [...before, { type: 'input_file', ...named, file_url: source.url }];
    case 'file':
      return [...before, { type: 'input_file', ...named, file_id: ownFile(source.id, at) }];
    case 'text':
      encoding.losses.approximate(at ?? 'document', 'text');
      return [...before, inputText(title ? `${title}\n${source.text}` : source.text)];
    case 'content':
      encoding.losses.approximate(at ?? 'document', 'its content');
      return [...before, ...(title ? [inputText(title)] : []), ...encodeContent(source.parts, encoding)];
    default:
      return source satisfies never;
  }
};

/** The vendor wants a name with files that come as data. */
const fileName = (mediaType: string): string =>
  mediaType === 'application/pdf' ? 'document.pdf' : `document.${mediaType.split(/[/+]/)[1] ?? 'bin'}`;

/** An assistant's text or refusal → content of an earlier reply. */
export const encodeAnswer = (part: Extract<Part, { type: 'text' | 'refusal' }>, encoding: Encoding): JsonObject => {
  const more = node(part, encoding);
  if (part.type === 'refusal') return { type: 'refusal', refusal: part.text, ...more };
  const annotations = encodeCitations(part, encoding);
  return { type: 'output_text', text: part.text, ...(annotations.length > 0 && { annotations }), ...more };
};

const encodeCitations = ({ citations = [], text, at }: TextPart, encoding: Encoding): readonly JsonObject[] => {
  const annotations = citations
    .map((citation) => writeAnnotation(citation, text.length))
    .filter((annotation) => annotation !== undefined);
  if (annotations.length < citations.length) encoding.losses.drop(`${at ?? 'content'}.citations`);
  else if (citations.some(saysMore))
    encoding.losses.approximate(`${at ?? 'content'}.citations`, 'address and title alone');
  return annotations;
};

/** Of another wire's citation only the address, title and place can be told. */
const saysMore = (citation: Citation): boolean => citation.type === 'url' && citation.raw?.wire !== 'responses';

const node = (
  part: {
    readonly at?: string | undefined;
    readonly cache?: CacheMark | undefined;
    readonly extra?: Extra | undefined;
  },
  encoding: Encoding,
): JsonObject => {
  const members: JsonDraft = {};
  if (markCache(part, encoding)) members.prompt_cache_breakpoint = { mode: 'explicit' };
  return { ...members, ...keepExtra(part.extra, encoding.losses) };
};

/** Whether the node's cache mark can be written; records it when it can't. */
export const markCache = (
  { at, cache }: { readonly at?: string | undefined; readonly cache?: CacheMark | undefined },
  { losses, cacheMarks }: Encoding,
): boolean => {
  if (!cache) return false;
  const path = `${at ?? 'content'}.cache_control`;
  if (!cacheMarks) losses.drop(path);
  else if (cache.ttl) losses.approximate(path, 'without its lifetime');
  return cacheMarks;
};
