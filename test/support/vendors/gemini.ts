import { createHash } from 'node:crypto';
import { counts, pieces, type Scripted, scripted } from './script.ts';
import type { Vendor } from './vendor.ts';

interface GeminiBody {
  readonly contents: readonly GeminiContent[];
  readonly systemInstruction?: unknown;
  readonly tools?: readonly { readonly functionDeclarations?: readonly GeminiFunction[] }[];
  readonly toolConfig?: unknown;
  readonly generationConfig?: {
    readonly thinkingConfig?: {
      readonly includeThoughts?: boolean;
      readonly thinkingBudget?: number;
      readonly thinkingLevel?: string;
    };
  };
}

interface GeminiContent {
  readonly role?: string;
  readonly parts: readonly GeminiPart[];
}

interface GeminiPart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly functionCall?: { readonly name: string; readonly args?: unknown; readonly id?: string };
  readonly functionResponse?: { readonly name: string; readonly response: unknown; readonly id?: string };
}

interface GeminiFunction {
  readonly name: string;
  readonly parameters?: unknown;
  readonly parametersJsonSchema?: unknown;
}

/** The only signature that this vendor issued. */
const thoughtSignature = 'CiQBjz1rX2vendor+thought/signature==';

/** Gemini: the stream is a matter of the path, CRLF ends its lines, calls come whole and what they led from is signed. */
export const geminiVendor: Vendor<GeminiBody> = {
  paths: /^\/v1beta\/models\/gemini-[\w.-]+:(?:generateContent|streamGenerateContent\?alt=sse)$/,
  key: (headers) => headers['x-goog-api-key']?.toString(),
  understand,
  complaint: findComplaint,
  failure: (status, message) => failures[status]?.(message) ?? { body: errorBody(status, 'UNKNOWN', message) },
  answer(body, url, script = scripted) {
    const { thinking, ...rest } = script(understand(body));
    const shown = thinking !== undefined && body.generationConfig?.thinkingConfig?.includeThoughts === true;
    const answer: Scripted = shown ? { ...rest, thinking } : rest;
    return url.includes(':stream')
      ? { type: 'stream', pieces: streamOf(answer, modelOf(url)) }
      : { type: 'json', text: replyOf(answer, modelOf(url)) };
  },
  payload: thoughtSignature,
};

const errorBody = (code: number, status: string, message: string, details: readonly object[] = []) => ({
  error: { code, message, status, ...(details.length > 0 && { details }) },
});

const failures: Readonly<Record<number, (message: string) => { readonly status?: number; readonly body: unknown }>> = {
  400: (message) => ({ body: errorBody(400, 'INVALID_ARGUMENT', message) }),
  401: () => ({
    status: 400,
    body: errorBody(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
    ]),
  }),
  429: (message) => ({
    body: errorBody(429, 'RESOURCE_EXHAUSTED', message, [
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '6.2s' },
    ]),
  }),
  500: (message) => ({ body: errorBody(500, 'INTERNAL', message) }),
};

const modelOf = (url: string): string => /models\/([^:]+):/.exec(url)?.[1] ?? '';

const isResult = ({ functionResponse }: GeminiPart): boolean => functionResponse !== undefined;

function understand({ contents, tools = [] }: GeminiBody) {
  const users = contents.filter(({ role }) => role === 'user');
  const newest = users.at(-1)?.parts ?? [];
  const spoken = users.findLast(({ parts }) => parts.some(({ text }) => text !== undefined))?.parts ?? [];
  return {
    text: spoken.map(({ text = '' }) => text).join(''),
    results: newest.filter(isResult).map(({ functionResponse }) => {
      const response = functionResponse?.response;
      return typeof response === 'object' && response !== null && 'output' in response ? String(response.output) : '?';
    }),
    tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    images: newest.flatMap(({ inlineData }) => (inlineData ? [inlineData.mimeType] : [])),
  };
}

/** The members that each kind of object may have. Source: Gemini API reference, "GenerateContentRequest". */
const members = {
  body: [
    ...['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'safetySettings'],
    ...['cachedContent', 'serviceTier', 'store'],
  ],
  content: ['role', 'parts'],
  part: [
    ...['text', 'thought', 'thoughtSignature', 'inlineData', 'fileData', 'functionCall', 'functionResponse'],
    ...['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse', 'mediaResolution'],
  ],
  tool: ['functionDeclarations', 'googleSearch', 'urlContext', 'codeExecution'],
  function: ['name', 'description', 'parameters', 'parametersJsonSchema', 'response'],
  generationConfig: [
    ...['maxOutputTokens', 'temperature', 'topP', 'topK', 'stopSequences', 'candidateCount', 'seed'],
    ...['presencePenalty', 'frequencyPenalty', 'responseMimeType', 'responseSchema', 'responseJsonSchema'],
    ...['thinkingConfig', 'mediaResolution'],
  ],
  openApi: [
    ...['type', 'format', 'title', 'description', 'nullable', 'enum', 'items', 'minItems', 'maxItems', 'properties'],
    ...['required', 'propertyOrdering', 'minProperties', 'maxProperties', 'minLength', 'maxLength', 'pattern'],
    ...['minimum', 'maximum', 'anyOf', 'default', 'example'],
  ],
  jsonSchema: [
    ...['type', 'properties', 'required', 'additionalProperties', 'enum', 'items', 'prefixItems', 'minItems'],
    ...['maxItems', 'minimum', 'maximum', 'anyOf', 'oneOf', '$ref', '$defs', '$id', '$anchor', 'title'],
    ...['description', 'format'],
  ],
} as const;

const unknownName = (value: object, kind: keyof typeof members): string | undefined => {
  const names: readonly string[] = members[kind];
  const name = Object.keys(value).find((member) => !names.includes(member));
  return name === undefined ? undefined : `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`;
};

const schemaComplaint = (schema: unknown, kind: 'openApi' | 'jsonSchema'): string | undefined => {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const properties = 'properties' in schema && typeof schema.properties === 'object' ? schema.properties : {};
  const inner: readonly unknown[] = [
    ...Object.values(properties ?? {}),
    ...('items' in schema ? [schema.items] : []),
    ...('anyOf' in schema && Array.isArray(schema.anyOf) ? schema.anyOf : []),
  ];
  return unknownName(schema, kind) ?? first(inner, (one) => schemaComplaint(one, kind));
};

const first = <T>(list: readonly T[], check: (one: T) => string | undefined): string | undefined => {
  for (const one of list) {
    const complaint = check(one);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
};

/** Source: Gemini API documentation, "Function calling", "Thought signatures", "Thinking". */
function findComplaint(body: GeminiBody, url: string): string | undefined {
  const { contents, tools = [], toolConfig, generationConfig = {} } = body;
  const { thinkingBudget, thinkingLevel } = generationConfig.thinkingConfig ?? {};
  const functions = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  const third = modelOf(url).startsWith('gemini-3');
  const shapes =
    unknownName(body, 'body') ??
    unknownName(generationConfig, 'generationConfig') ??
    first(tools, (tool) => unknownName(tool, 'tool')) ??
    first(functions, findFunctionComplaint) ??
    first(contents, (content) => unknownName(content, 'content') ?? first(content.parts, findPartComplaint));
  if (shapes !== undefined) return shapes;
  if (tools.filter(({ functionDeclarations }) => functionDeclarations).length > 1) return 'several tool objects';
  if (toolConfig !== undefined && tools.length === 0)
    return 'Function calling config is set without function_declarations';
  if (thinkingBudget !== undefined && thinkingLevel !== undefined) return 'thinking_budget and thinking_level';
  if (thinkingLevel !== undefined && !['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'].includes(thinkingLevel))
    return 'thinking_level';
  return findTurnComplaint(contents, third);
}

const findFunctionComplaint = (declared: GeminiFunction): string | undefined => {
  if (!/^[a-zA-Z_][\w.:-]{0,127}$/.test(declared.name)) return `Invalid function name ${declared.name}`;
  if (declared.parameters && declared.parametersJsonSchema) return 'parameters and parametersJsonSchema';
  return (
    unknownName(declared, 'function') ??
    schemaComplaint(declared.parameters, 'openApi') ??
    schemaComplaint(declared.parametersJsonSchema, 'jsonSchema')
  );
};

const findPartComplaint = (part: GeminiPart): string | undefined => {
  const { text, thoughtSignature: signature, functionCall, functionResponse, inlineData } = part;
  if (text === '' && signature === undefined) return 'Unable to submit request because it has an empty text parameter';
  if (signature !== undefined && ![thoughtSignature, standIn].includes(signature))
    return 'Corrupted thought signature.';
  if (functionCall && (typeof functionCall.args !== 'object' || Array.isArray(functionCall.args))) return 'args';
  if (functionResponse && (typeof functionResponse.response !== 'object' || Array.isArray(functionResponse.response)))
    return 'response is no struct';
  if (inlineData?.mimeType === 'image/gif') return 'Unsupported MIME type: image/gif';
  return unknownName(part, 'part');
};

const standIn = 'skip_thought_signature_validator';

const findTurnComplaint = (contents: readonly GeminiContent[], third: boolean): string | undefined => {
  const lastWords = contents.findLastIndex(({ role, parts }) => role === 'user' && !parts.some(isResult));
  let due: GeminiPart[] = [];
  let before = '';
  for (const [index, { role = 'user', parts }] of contents.entries()) {
    if (role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.';
    if (role === before) return 'Please ensure that roles alternate';
    if (parts.length === 0) return 'contents.parts must not be empty';
    const calls = parts.filter(({ functionCall }) => functionCall);
    if (index === 0 && calls.length > 0) return 'function call turn comes immediately after a user turn';
    const results = parts.filter(isResult);
    if (results.length !== due.length)
      return 'the number of function response parts is equal to the number of function call parts of the function call turn';
    const matched = results.every(
      ({ functionResponse }, place) =>
        parts[place]?.functionResponse === functionResponse &&
        functionResponse?.name === due[place]?.functionCall?.name &&
        functionResponse?.id === due[place]?.functionCall?.id,
    );
    if (!matched) return 'function responses must be in the order of their calls, with their names and ids';
    if (third && index > lastWords && calls.length > 0 && calls[0]?.thoughtSignature === undefined)
      return `Function call is missing a thought_signature in functionCall parts (position ${index}).`;
    due = role === 'model' ? calls : [];
    before = role;
  }
  if (due.length > 0) return 'function calls without responses';
  return before === 'model' ? 'the last content must be of the user' : undefined;
};

/** Ids in this vendor's format, eight characters, in place of the requested ones. */
const ownId = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 8);

const partsOf = ({ thinking, text, calls = [] }: Scripted): readonly GeminiPart[] => [
  ...(thinking === undefined ? [] : pieces(thinking).map((piece) => ({ text: piece, thought: true }))),
  ...pieces(text ?? '').map((piece) => ({ text: piece })),
  ...calls.map(({ id, name, input }, index) => ({
    functionCall: { name, args: input, id: ownId(id) },
    ...(index === 0 && { thoughtSignature }),
  })),
];

const usageMetadata = {
  promptTokenCount: counts.prompt,
  cachedContentTokenCount: counts.cached,
  candidatesTokenCount: counts.output - counts.reasoning,
  thoughtsTokenCount: counts.reasoning,
  totalTokenCount: counts.prompt + counts.output,
};

const head = (model: string) => ({ modelVersion: `${model}-0001`, responseId: 'dmVuZG9y' });

const replyOf = ({ thinking, text, calls }: Scripted, model: string): string => {
  const parts = [
    ...(thinking === undefined ? [] : [{ text: thinking, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...partsOf(calls ? { calls } : {}),
  ];
  const candidate = { content: { role: 'model', parts }, finishReason: 'STOP', index: 0 };
  return JSON.stringify({ candidates: [candidate], usageMetadata, ...head(model) }, null, 2);
};

const streamOf = (answer: Scripted, model: string): string[] => {
  const { candidatesTokenCount: _, ...early } = usageMetadata;
  const record = (parts: readonly GeminiPart[], finishReason?: string): string => {
    const candidate = { content: { role: 'model', parts }, ...(finishReason && { finishReason }), index: 0 };
    const usage = finishReason ? usageMetadata : early;
    return `data: ${JSON.stringify({ candidates: [candidate], usageMetadata: usage, ...head(model) })}\r\n\r\n`;
  };
  return [...partsOf(answer).map((part) => record([part])), record([{ text: '' }], 'STOP')];
};
