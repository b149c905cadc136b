import { fail } from '../../../engine/model/fault.ts';
import type { JsonDraft, JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordExtraLoss } from '../../../engine/model/record-losses.ts';
import {
  type CacheMark,
  type Citation,
  type DocumentPart,
  type Extra,
  type ImagePart,
  type ModelRequest,
  mediaTypeOf,
  type Part,
  type TextPart,
  type WireFormat,
} from '../../../engine/model/request.ts';
import type { CallIds } from '../../../engine/model/wire/call-ids.ts';
import type { ToolSchemaForm } from '../../../engine/model/wire/tool-schema.ts';
import { encodeCitation } from '../citations.ts';
import { callIdForm, type ResponsesTraits } from '../dialect.ts';
import { type CalledTool, calledTool } from '../tool-names.ts';
import { ToolItemQueue } from './tool-item-queue.ts';

/** Shared state of the encoders of one request. */
export interface ContentContext {
  readonly losses: Losses;
  /** The place being encoded, for losses. */
  readonly place: 'message' | 'tool output';
  /** The model accepts cache marks. */
  readonly cacheMarks: boolean;
  readonly toolSchema: ToolSchemaForm;
  /** The client uses this protocol: an absent member keeps its meaning. */
  readonly ownClient: boolean;
  /** A tool as this format names it. */
  readonly tool: (name: string) => CalledTool;
  /** A call's id, shortened to the vendor's limit. */
  readonly callId: (id: string) => string;
  /** Ids of custom tool calls: their outputs have an item type of their own. */
  readonly customCalls: Set<string>;
  readonly toolItems: ToolItemQueue;
}

/** The context of this request. `wireName` converts a tool's name to the vendor's characters. */
export const newContentContext = (
  request: ModelRequest,
  losses: Losses,
  client: WireFormat | undefined,
  { cacheMarks, toolSchema }: ResponsesTraits,
  wireName: (name: string) => string,
  callIds: CallIds,
): ContentContext => {
  return {
    losses,
    place: 'message',
    cacheMarks,
    toolSchema,
    ownClient: client === 'responses',
    tool(name) {
      const tool = calledTool(request, name);
      return tool.namespace === undefined ? { ...tool, name: wireName(name) } : tool;
    },
    callId: (id) => callIds.wire(id, callIdForm),
    customCalls: new Set(),
    toolItems: new ToolItemQueue(request),
  };
};

/** Whether a client of this protocol wrote the member, so that its references are the vendor's own. */
export const isOwn = (at: string | undefined): boolean => at !== undefined && /^(input|instructions|tools)\b/.test(at);

/** Encodes a user's parts or a tool's output. Empty texts are left out. */
export const encodeContent = (parts: readonly Part[], context: ContentContext): readonly JsonObject[] =>
  parts.flatMap((part) => {
    const content = encodePart(part, context);
    return content.map((one) => ({ ...one, ...node(part, context) }));
  });

const encodePart = (part: Part, context: ContentContext): readonly JsonObject[] => {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [inputText(part.text)];
    case 'refusal':
      return [inputText(part.text)];
    case 'image':
      return [encodeImage(part)];
    case 'document':
      return encodeDocument(part, context);
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: part.data, format: part.format } }];
    case 'search-result': {
      context.losses.approximate(part.at ?? 'search_result', 'text');
      const content = part.content.map(({ text }) => text).join('\n');
      return [inputText(`${part.title}\n${part.source}\n${content}`)];
    }
    default:
      context.losses.drop(part.at ?? part.type, `no place in a ${context.place}`);
      return [];
  }
};

const inputText = (text: string): JsonObject => ({ type: 'input_text', text });

const encodeImage = ({ source, detail, at }: ImagePart): JsonObject => {
  const more = detail && { detail };
  switch (source.kind) {
    case 'base64':
      return { type: 'input_image', image_url: `data:${mediaTypeOf(source.mediaType)};base64,${source.data}`, ...more };
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

const encodeDocument = (part: DocumentPart, context: ContentContext): readonly JsonObject[] => {
  const { source, title, context: introduction, cite, at } = part;
  if (cite) context.losses.drop(`${at ?? 'document'}.citations`);
  const before = introduction ? [inputText(introduction)] : [];
  if (introduction) context.losses.approximate(`${at ?? 'document'}.context`, 'text before the document');
  const named = title && { filename: title };
  switch (source.kind) {
    case 'base64': {
      const mediaType = mediaTypeOf(source.mediaType);
      const file_data = `data:${mediaType};base64,${source.data}`;
      return [...before, { type: 'input_file', filename: title ?? fileName(mediaType), file_data }];
    }
    case 'url':
      return [...before, { type: 'input_file', ...named, file_url: source.url }];
    case 'file':
      return [...before, { type: 'input_file', ...named, file_id: ownFile(source.id, at) }];
    case 'text':
      context.losses.approximate(at ?? 'document', 'text');
      return [...before, inputText(title ? `${title}\n${source.text}` : source.text)];
    case 'content':
      context.losses.approximate(at ?? 'document', 'its content');
      return [...before, ...(title ? [inputText(title)] : []), ...encodeContent(source.parts, context)];
    default:
      return source satisfies never;
  }
};

/** The vendor requires a name for inline files. */
const fileName = (mediaType: string): string =>
  mediaType === 'application/pdf' ? 'document.pdf' : `document.${mediaType.split(/[/+]/)[1] ?? 'bin'}`;

/** An assistant's text or refusal → content of an earlier reply. */
export const encodeAnswer = (
  part: Extract<Part, { type: 'text' | 'refusal' }>,
  context: ContentContext,
): JsonObject => {
  const more = node(part, context);
  if (part.type === 'refusal') return { type: 'refusal', refusal: part.text, ...more };
  const annotations = encodeCitations(part, context);
  return { type: 'output_text', text: part.text, ...(annotations.length > 0 && { annotations }), ...more };
};

const encodeCitations = ({ citations = [], text, at }: TextPart, context: ContentContext): readonly JsonObject[] => {
  const annotations = citations
    .map((citation) => encodeCitation(citation, text.length))
    .filter((annotation) => annotation !== undefined);
  if (annotations.length < citations.length) context.losses.drop(`${at ?? 'content'}.citations`);
  else if (citations.some(saysMore))
    context.losses.approximate(`${at ?? 'content'}.citations`, 'only the URL and title');
  return annotations;
};

/** Whether a citation loses anything but its URL, title and position. */
const saysMore = (citation: Citation): boolean => citation.type === 'url' && citation.raw?.wire !== 'responses';

const node = (
  part: {
    readonly at?: string | undefined;
    readonly cache?: CacheMark | undefined;
    readonly extra?: Extra | undefined;
  },
  context: ContentContext,
): JsonObject => {
  const members: JsonDraft = {};
  if (markCache(part, context)) members.prompt_cache_breakpoint = { mode: 'explicit' };
  return { ...members, ...encodeExtra(part.extra, context.losses) };
};

/** Whether a node's cache mark can be written; records a loss if not. */
export const markCache = (
  { at, cache }: { readonly at?: string | undefined; readonly cache?: CacheMark | undefined },
  { losses, cacheMarks }: ContentContext,
): boolean => {
  if (!cache) return false;
  const path = `${at ?? 'content'}.cache_control`;
  if (!cacheMarks) losses.drop(path);
  else if (cache.ttl) losses.approximate(path, 'without its lifetime');
  return cacheMarks;
};

/** The client's own objects for which a part stands, with the vendor's call ids; `undefined` if it stands for none. */
export const ownObjects = (part: Part, { callId }: ContentContext): readonly JsonObject[] | undefined => {
  if (part.extra?.wire !== 'responses') return undefined;
  const { original } = part.extra;
  if (!original || (part.type !== 'tool-call' && part.type !== 'tool-result')) return original?.objects;
  const id = callId(part.id);
  return id === part.id ? original.objects : original.objects.map((object) => ({ ...object, call_id: id }));
};

/** The unmodelled members to write back. Those of another format become losses. */
export const encodeExtra = (extra: Extra | undefined, losses: Losses): JsonObject => {
  if (!extra) return {};
  if (extra.wire === 'responses') return extra.fields;
  recordExtraLoss(extra, losses);
  return {};
};
