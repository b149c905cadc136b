import Type from 'typebox';
import type {
  AudioPart,
  Base64Source,
  CacheMark,
  CustomTool,
  DecisionQuestion,
  DocumentPart,
  Extra,
  FileSource,
  FunctionTool,
  HostedTool,
  ImagePart,
  ModelRequest,
  Namespace,
  OpaquePart,
  Part,
  Reasoning,
  RedactedThinkingPart,
  RefusalPart,
  SearchResultPart,
  TextPart,
  ThinkingPart,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolItem,
  ToolResultPart,
  Turn,
  UrlCitation,
  UrlSource,
  WebSearchTool,
} from '../request.ts';
import { memberPath } from '../schema.ts';
import {
  check,
  checkByType,
  exactly,
  extra,
  firstIn,
  flag,
  json,
  jsonObject,
  type Members,
  optional,
  type Problem,
  signature,
  text,
  wire,
  word,
} from './shape.ts';

/*
 * What a custom stage makes of a request is foreign data: its module's types are removed, not checked. The lists of parts are checked item
 * by item, so that a fault is that of the part's own type.
 */

const node = { at: optional(text), extra: optional(extra) } satisfies Members<{ at: string; extra: Extra }>;

const cache = optional(exactly({ ttl: optional(Type.Enum(['5m', '1h'])) } satisfies Members<CacheMark>));
const effort = Type.Enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
/** A list whose items are checked one by one. */
const list = Type.Array(Type.Unknown());
/** The client's form of a value. */
const raw = Type.Object({ wire, value: jsonObject });

const checkCitation = checkByType('type', {
  url: check(
    exactly({
      type: text,
      url: text,
      title: optional(text),
      quote: optional(text),
      start: optional(Type.Number()),
      end: optional(Type.Number()),
      raw: optional(raw),
    } satisfies Members<UrlCitation>),
  ),
  opaque: check(exactly({ type: text, wire, value: jsonObject })),
});

const base64 = exactly({ kind: text, mediaType: word, data: text } satisfies Members<Base64Source>);
const url = exactly({ kind: text, url: word } satisfies Members<UrlSource>);
const file = exactly({ kind: text, id: word, wire: optional(wire) } satisfies Members<FileSource>);

const checkImageSource = checkByType('kind', { base64: check(base64), url: check(url), file: check(file) });

/** Parts hold parts (results, documents) at most this deep; a circle is deeper. */
const maxPartDepth = 32;

type PartCheck = (value: unknown, at: string, levels: number) => Problem;

const checkParts: PartCheck = (parts, at, levels) => {
  if (!Array.isArray(parts)) return { path: at, message: parts === undefined ? 'is required' : 'must be array' };
  if (levels === 0) return { path: at, message: 'is nested too deeply, or in a circle' };
  return firstIn(parts, at, (part, place) => checkPart(part, place, levels - 1));
};

const sourceOf = (value: unknown): unknown => Object(value).source;

const checkDocumentSource = (source: unknown, at: string, levels: number): Problem =>
  checkByType('kind', {
    base64: check(base64),
    url: check(url),
    file: check(file),
    text: textSource,
    content: (value, place) => checkParts(Object(value).parts, memberPath(place, 'parts'), levels),
  })(source, at);

const textSource = check(exactly({ kind: text, text }));

const plainParts = {
  text: check(exactly({ ...node, type: text, text, cache, citations: optional(list) } satisfies Members<TextPart>)),
  image: check(
    exactly({
      ...node,
      type: text,
      source: Type.Object({}),
      detail: optional(Type.Enum(['auto', 'low', 'high', 'original'])),
      cache,
    } satisfies Members<ImagePart>),
  ),
  document: check(
    exactly({
      ...node,
      type: text,
      source: Type.Object({}),
      title: optional(text),
      context: optional(text),
      cite: optional(flag),
      cache,
    } satisfies Members<DocumentPart>),
  ),
  audio: check(exactly({ ...node, type: text, data: text, format: text } satisfies Members<AudioPart>)),
  'search-result': check(
    exactly({
      ...node,
      type: text,
      source: text,
      title: text,
      content: list,
      cite: optional(flag),
      cache,
    } satisfies Members<SearchResultPart>),
  ),
  refusal: check(exactly({ ...node, type: text, text } satisfies Members<RefusalPart>)),
  thinking: check(
    exactly({ ...node, type: text, text, signature: optional(signature) } satisfies Members<ThinkingPart>),
  ),
  'redacted-thinking': check(exactly({ ...node, type: text, signature } satisfies Members<RedactedThinkingPart>)),
  'tool-call': check(
    exactly({
      ...node,
      type: text,
      id: text,
      name: word,
      input: Type.Union([text, jsonObject]),
      cache,
      signature: optional(signature),
    } satisfies Members<ToolCallPart>),
  ),
  'tool-result': check(
    exactly({
      ...node,
      type: text,
      id: text,
      content: list,
      isError: optional(flag),
      cache,
    } satisfies Members<ToolResultPart>),
  ),
  opaque: check(
    exactly({
      ...node,
      type: text,
      wire,
      raw: jsonObject,
      signature: optional(signature),
    } satisfies Members<OpaquePart>),
  ),
} satisfies Readonly<Record<Part['type'], (value: unknown, at: string) => Problem>>;

/** The parts that a part holds, its source and its citations. */
const insides: Readonly<Partial<Record<Part['type'], PartCheck>>> = {
  text: (part, at) => {
    const { citations } = Object(part);
    return citations && firstIn(citations, memberPath(at, 'citations'), checkCitation);
  },
  image: (part, at) => checkImageSource(sourceOf(part), memberPath(at, 'source')),
  document: (part, at, levels) => checkDocumentSource(sourceOf(part), memberPath(at, 'source'), levels),
  'search-result': (part, at) => firstIn(Object(part).content, memberPath(at, 'content'), checkText),
  'tool-result': (part, at, levels) => checkParts(Object(part).content, memberPath(at, 'content'), levels),
};

const checkAnyPart = checkByType('type', plainParts);
const insideOf: ReadonlyMap<unknown, PartCheck> = new Map(Object.entries(insides));

const checkPart: PartCheck = (part, at, levels) =>
  checkAnyPart(part, at) ?? insideOf.get(Object(part).type)?.(part, at, levels);

/** A text part, in a place that has no other parts. */
const checkText = (part: unknown, at: string): Problem =>
  checkByType('type', { text: (value, place) => checkPart(value, place, 1) })(part, at);

const checkTurnItself = check(
  exactly({
    ...node,
    role: Type.Enum(['user', 'assistant', 'system']),
    parts: list,
    name: optional(text),
    effort: optional(effort),
  } satisfies Members<Turn>),
);

const checkTurn = (turn: unknown, at: string): Problem =>
  checkTurnItself(turn, at) ?? checkParts(Object(turn).parts, memberPath(at, 'parts'), maxPartDepth);

const namespace = optional(
  exactly({ name: text, local: text, description: optional(text) } satisfies Members<Namespace>),
);

const checkTool = checkByType<Tool['type']>('type', {
  function: check(
    exactly({
      ...node,
      type: text,
      name: word,
      description: optional(text),
      parameters: optional(jsonObject),
      strict: optional(flag),
      cache,
      namespace,
    } satisfies Members<FunctionTool>),
  ),
  custom: check(
    exactly({
      ...node,
      type: text,
      name: word,
      description: optional(text),
      format: optional(jsonObject),
      namespace,
    } satisfies Members<CustomTool>),
  ),
  'web-search': check(
    exactly({
      ...node,
      type: text,
      maxUses: optional(Type.Number()),
      allowedDomains: optional(Type.Array(text)),
      blockedDomains: optional(Type.Array(text)),
      userLocation: optional(jsonObject),
      contextSize: optional(Type.Enum(['low', 'medium', 'high'])),
      raw,
    } satisfies Members<WebSearchTool>),
  ),
  hosted: check(
    exactly({
      ...node,
      type: text,
      wire,
      kind: text,
      name: optional(text),
      raw: jsonObject,
    } satisfies Members<HostedTool>),
  ),
});

const checkToolChoice = checkByType<ToolChoice['type']>('type', {
  auto: check(exactly({ type: text })),
  none: check(exactly({ type: text })),
  required: check(exactly({ type: text })),
  tool: check(exactly({ type: text, name: word })),
  allowed: check(exactly({ type: text, required: flag, names: Type.Array(text) })),
  opaque: check(exactly({ type: text, wire, value: json })),
});

const checkOutput = checkByType<'text' | 'json' | 'json-schema'>('type', {
  text: check(exactly({ type: text })),
  json: check(exactly({ type: text })),
  'json-schema': check(
    exactly({
      type: text,
      schema: jsonObject,
      name: optional(text),
      description: optional(text),
      strict: optional(flag),
    }),
  ),
});

const number = optional(Type.Number());

const checkMembers = check(
  exactly({
    model: text,
    system: list,
    turns: list,
    tools: list,
    deferredTools: optional(list),
    toolItems: optional(Type.Array(exactly({ wire, at: text, raw: jsonObject } satisfies Members<ToolItem>))),
    toolChoice: optional(Type.Object({})),
    parallelToolCalls: optional(flag),
    maxTokens: number,
    temperature: number,
    topP: number,
    topK: number,
    stop: optional(Type.Array(text)),
    seed: number,
    presencePenalty: number,
    frequencyPenalty: number,
    logitBias: optional(Type.Record(text, Type.Number())),
    reasoning: optional(
      exactly({
        mode: optional(Type.Enum(['off', 'on', 'adaptive', 'between-tools'])),
        effort: optional(effort),
        budget: number,
        show: optional(Type.Enum(['hidden', 'auto', 'concise', 'detailed'])),
        wire: optional(wire),
        providerMembers: optional(jsonObject),
      } satisfies Members<Reasoning>),
    ),
    output: optional(Type.Object({})),
    decision: optional(
      exactly({ question: text, answers: Type.Array(text), about: text } satisfies Members<DecisionQuestion>),
    ),
    verbosity: optional(Type.Enum(['low', 'medium', 'high'])),
    stream: flag,
    compaction: optional(Type.Object({})),
    streamUsage: optional(flag),
    user: optional(text),
    metadata: optional(Type.Record(text, text)),
    serviceTier: optional(text),
    promptCacheKey: optional(text),
    store: optional(flag),
    cache,
    extra: optional(extra),
  } satisfies Members<ModelRequest>),
);

/** Path at which a value isn't a request, in the model's own terms (`turns[0].parts`); `undefined`: it is one. Linear in its size. */
export const requestProblem = (value: unknown): Problem => {
  const problem = checkMembers(value, '');
  if (problem) return problem;
  const { system, turns, tools, deferredTools = [], toolChoice, output } = Object(value);
  return (
    firstIn(system, 'system', checkText) ??
    firstIn(turns, 'turns', checkTurn) ??
    firstIn(tools, 'tools', checkTool) ??
    firstIn(deferredTools, 'deferredTools', checkTool) ??
    (toolChoice && checkToolChoice(toolChoice, 'toolChoice')) ??
    (output && checkOutput(output, 'output'))
  );
};
