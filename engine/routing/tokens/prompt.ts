import type { JsonObject } from '../../model/json/json.ts';
import {
  type DocumentPart,
  inputText,
  type ModelRequest,
  type OutputFormat,
  type Part,
  type Tool,
} from '../../model/request.ts';
import { audioTokens, fileTokens, imageTokens, unreadableFileTokens } from './media.ts';

/** A prompt's contents for counting. */
interface Prompt {
  /** All plain texts, in order. */
  readonly texts: readonly string[];
  /** Arguments, schemas and vendors' own parts, whose JSON text is counted. */
  readonly values: readonly JsonObject[];
  /** Tokens of everything else: media, and the overhead of turns, tools and calls. */
  readonly others: number;
}

/** Overhead per turn. Source: OpenAI cookbook, "How to count tokens": 3 a message, and 1 more for a name. */
const perTurn = 4;
/** Overhead for the start of the answer. Source: as above. */
const perPrompt = 3;
/** Overhead per tool, call or result. Source: as above, "function init". */
const perTool = 7;
/** Base64 characters of encrypted reasoning per token: four hold three bytes, a token is about four bytes. */
const redactedPerToken = 5;

/** Splits a request into texts and other tokens. */
export const promptOf = (request: ModelRequest): Prompt => {
  const found: Found = { texts: [], values: [] };
  const { texts } = found;
  let others = perPrompt;
  for (const { text } of request.system) texts.push(text);
  if (request.system.length > 0) others += perTurn;
  for (const { parts, name } of request.turns) {
    others += perTurn + addParts(parts, found);
    if (name !== undefined) texts.push(name);
  }
  for (const tool of request.tools) others += addTool(tool, found);
  addOutput(request.output, found);
  return { ...found, others };
};

/** Tokens of a request's images and documents. */
export const mediaTokens = ({ turns }: ModelRequest): number =>
  turns.reduce((sum, { parts }) => sum + partsMedia(parts), 0);

const partsMedia = (parts: readonly Part[]): number => {
  let tokens = 0;
  for (const part of parts) {
    if (part.type === 'image') tokens += imageTokens(part);
    else if (part.type === 'tool-result' || part.type === 'search-result') tokens += partsMedia(part.content);
    else if (part.type === 'document') tokens += documentMedia(part);
  }
  return tokens;
};

const documentMedia = ({ source }: DocumentPart): number => {
  switch (source.kind) {
    case 'base64':
      return fileTokens(source);
    case 'content':
      return partsMedia(source.parts);
    case 'text':
      return 0;
    default:
      return unreadableFileTokens;
  }
};

/** The contents found so far. */
interface Found {
  readonly texts: string[];
  readonly values: JsonObject[];
}

/** Adds the parts' contents to `found`; returns the other tokens. */
const addParts = (parts: readonly Part[], found: Found): number => {
  let others = 0;
  for (const part of parts) others += addPart(part, found);
  return others;
};

const addPart = (part: Part, found: Found): number => {
  const { texts, values } = found;
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'thinking':
      texts.push(part.text);
      return 0;
    case 'tool-call':
      texts.push(part.name);
      if (typeof part.input === 'string') texts.push(inputText(part.input));
      else values.push(part.input);
      return perTool;
    case 'tool-result':
      return perTool + addParts(part.content, found);
    case 'image':
      return imageTokens(part);
    case 'audio':
      return audioTokens(part);
    case 'document':
      return addDocument(part, found);
    case 'search-result':
      texts.push(part.title, part.source);
      return addParts(part.content, found);
    case 'redacted-thinking':
      return Math.ceil(part.signature.data.length / redactedPerToken);
    case 'opaque':
      values.push(part.raw);
      return 0;
    default:
      return part satisfies never;
  }
};

const addDocument = ({ source, title, context }: DocumentPart, found: Found): number => {
  const { texts } = found;
  if (title !== undefined) texts.push(title);
  if (context !== undefined) texts.push(context);
  switch (source.kind) {
    case 'text':
      texts.push(source.text);
      return 0;
    case 'content':
      return addParts(source.parts, found);
    case 'base64':
      return fileTokens(source);
    case 'url':
    case 'file':
      return unreadableFileTokens;
    default:
      return source satisfies never;
  }
};

const addTool = (tool: Tool, { texts, values }: Found): number => {
  switch (tool.type) {
    case 'function':
      texts.push(tool.name, tool.description ?? '');
      values.push(tool.parameters ?? {});
      break;
    case 'custom':
      texts.push(tool.name, tool.description ?? '');
      values.push(tool.format ?? {});
      break;
    case 'web-search':
      values.push(tool.raw.value);
      break;
    case 'hosted':
      values.push(tool.raw);
      break;
    default:
      tool satisfies never;
  }
  return perTool;
};

const addOutput = (output: OutputFormat | undefined, { texts, values }: Found): void => {
  if (output?.type !== 'json-schema') return;
  texts.push(output.name ?? '', output.description ?? '');
  values.push(output.schema);
};
