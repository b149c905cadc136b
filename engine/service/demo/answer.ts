import { Buffer } from 'node:buffer';
import type { ModelEvent } from '../../model/event.ts';
import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import {
  type FunctionTool,
  type ImagePart,
  isOff,
  type ModelRequest,
  type Part,
  type ToolResultPart,
} from '../../model/request.ts';
import { chooseTools, endsConversation, exampleValue, functionsOf, textOf } from './tools.ts';

interface DemoCall {
  readonly name: string;
  /** JSON text. */
  readonly json: string;
}

/** Longest text that the demo repeats, in characters. */
const maxEcho = 2000;

/**
 * The demo's answer to a request. Deterministic: uses nothing but the request. `id`: unique, for the ids of its calls. Token counts are
 * estimates, at four characters each.
 */
export const answerDemo = (request: ModelRequest, id: string): readonly ModelEvent[] => {
  const words = answerText(request);
  const calls = chooseTools(request).map((tool) => callOf(tool, words));
  const reasoning = wantsReasoning(request) ? reason(request, calls) : '';
  const uncut = calls.length > 0 ? '' : request.output?.type === 'json' ? JSON.stringify({ answer: words }) : words;
  const text = capText(uncut, (request.maxTokens ?? Number.POSITIVE_INFINITY) - tokens(reasoning));
  const called = calls.reduce((sum, { name, json }) => sum + tokens(name + json), 0);
  const blocks: readonly ((index: number) => readonly ModelEvent[])[] = [
    ...(reasoning === '' ? [] : [thinkingBlock(reasoning)]),
    ...(text === '' ? [] : [textBlock(text)]),
    ...calls.map((call, at) => callBlock(call, `call_${id}_${at}`)),
  ];
  return [
    { type: 'message-start', id: '', model: request.model },
    ...blocks.flatMap((block, index) => block(index)),
    {
      type: 'message-stop',
      finish: calls.length > 0 ? 'tool-call' : text === uncut ? 'end' : 'length',
      usage: {
        input: tokens(JSON.stringify([request.system, request.turns, request.tools])),
        cacheRead: 0,
        output: tokens(reasoning) + tokens(text) + called,
        reasoning: tokens(reasoning),
      },
    },
  ];
};

const tokens = (text: string): number => Math.ceil(text.length / 4);

const thinkingBlock =
  (text: string) =>
  (index: number): readonly ModelEvent[] => [
    { type: 'block-start', index, block: { type: 'thinking' } },
    ...pieces(text).map((piece) => ({ type: 'thinking-delta', index, text: piece }) as const),
    { type: 'block-stop', index },
  ];

const textBlock =
  (text: string) =>
  (index: number): readonly ModelEvent[] => [
    { type: 'block-start', index, block: { type: 'text' } },
    ...pieces(text).map((piece) => ({ type: 'text-delta', index, text: piece }) as const),
    { type: 'block-stop', index },
  ];

const callBlock =
  ({ name, json }: DemoCall, id: string) =>
  (index: number): readonly ModelEvent[] => [
    { type: 'block-start', index, block: { type: 'tool-call', id, name } },
    ...pieces(json).map((piece) => ({ type: 'input-delta', index, json: piece }) as const),
    { type: 'block-stop', index },
  ];

/** Splits a text into words, each with its leading white space; joined, they equal the text. */
const pieces = (text: string): readonly string[] => text.match(/\s*\S+|\s+$/g) ?? [];

const answerText = (request: ModelRequest): string => {
  const { system, turns, model } = request;
  const parts = turns.flatMap((turn) => turn.parts);
  const results = trailingResults(parts);
  if (results.length > 0) return describeResults(results, parts);
  const lastUser = turns.findLast(({ role }) => role === 'user');
  const sentences = [
    `Hello from the built-in demo: no real model, just "${model}", which talks about what it was sent.`,
    `I read ${count(system.length + turns.length, 'message')}${describeTools(functionsOf(request))}.`,
    ...describeImages(parts.filter((part) => part.type === 'image')),
    lastUser ? `You said: ${shorten(textOf(lastUser.parts))}` : 'None of them was a user message.',
  ];
  return sentences.join(' ');
};

/** The results at the end of the conversation. */
const trailingResults = (parts: readonly Part[]): readonly ToolResultPart[] =>
  parts
    .slice(parts.findLastIndex(({ type }) => type !== 'tool-result') + 1)
    .filter((part) => part.type === 'tool-result');

const describeResults = (results: readonly ToolResultPart[], parts: readonly Part[]): string => {
  const calls = parts.filter((part) => part.type === 'tool-call');
  const sentences = results.map(({ id, content }) => {
    const name = calls.find((call) => call.id === id)?.name ?? 'tool';
    return `The result of ${name} is: ${shorten(textOf(content))}`;
  });
  return sentences.join('\n');
};

const describeTools = (tools: readonly FunctionTool[]): string => {
  if (tools.length === 0) return ' and no tools';
  const names = tools.slice(0, 5).map(({ name }) => name);
  return ` and ${count(tools.length, 'tool')} (${names.join(', ')}${tools.length > 5 ? ', …' : ''})`;
};

const describeImages = (images: readonly ImagePart[]): readonly string[] =>
  images.length === 0
    ? []
    : [
        `I was shown ${count(images.length, 'image')}: ${images.map(({ source }) => describeImage(source)).join('; ')}.`,
      ];

const describeImage = (source: ImagePart['source']): string =>
  source.kind === 'base64' ? `${source.mediaType}, ${Buffer.from(source.data, 'base64').length} bytes` : 'one by URL';

/** Also the switches of vendors, which the format doesn't know. */
const wantsReasoning = ({ reasoning, extra }: ModelRequest): boolean => {
  const { enable_thinking: enabled, thinking }: JsonObject = extra?.fields ?? {};
  const isOn = reasoning !== undefined && !isOff(reasoning);
  return isOn || enabled === true || (isJsonObject(thinking) && thinking.type === 'enabled');
};

const reason = ({ system, turns }: ModelRequest, calls: readonly DemoCall[]): string => {
  const plan =
    calls.length > 0 ? `I should call ${calls.map(({ name }) => name).join(' and ')}.` : 'I can answer at once.';
  return `The newest of ${count(system.length + turns.length, 'message')} is from the ${turns.at(-1)?.role ?? 'system'}. ${plan}`;
};

const callOf = (tool: FunctionTool, words: string): DemoCall => {
  const value = exampleValue(tool.parameters ?? {});
  const plain = isJsonObject(value) ? value : {};
  return { name: tool.name, json: JSON.stringify(endsConversation(tool) ? withWords(plain, words) : plain) };
};

/** Replaces the first string argument with the answer's text. */
const withWords = (value: JsonObject, words: string): JsonObject => {
  const name = Object.keys(value).find((key) => typeof value[key] === 'string');
  return name === undefined ? value : { ...value, [name]: words };
};

/** Cuts a text to at most `limit` tokens, at a word boundary. */
const capText = (text: string, limit: number): string => {
  if (tokens(text) <= limit) return text;
  const cut = text.slice(0, Math.max(0, limit) * 4);
  return cut.slice(0, Math.max(cut.lastIndexOf(' '), 0));
};

const shorten = (text: string): string =>
  text.length <= maxEcho ? text : `${text.slice(0, maxEcho).replace(/[\ud800-\udbff]$/, '')}…`;

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
