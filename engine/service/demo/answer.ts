import type { Json } from '../../model/json/json.ts';
import { type DemoRequest, type DemoTool, imagesOf, type Message, textOf, toolsOf } from './request.ts';
import { chooseTools, endsConversation, exampleValue } from './tools.ts';

/** The demo's answer, independent of the wire format. */
export interface DemoAnswer {
  /** Empty unless reasoning was requested. */
  readonly reasoning: string;
  /** Empty if tools are called. */
  readonly text: string;
  readonly calls: readonly DemoCall[];
  readonly finish: 'stop' | 'length' | 'tool_calls';
  readonly usage: DemoUsage;
}

interface DemoCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** Estimated tokens, at four characters each. */
export interface DemoUsage {
  readonly prompt: number;
  /** Includes reasoning. */
  readonly completion: number;
  readonly reasoning: number;
}

/** Longest text that the demo repeats, in characters. */
const maxEcho = 2000;

/** Answers a request. Deterministic: uses nothing but the request. */
export const answerDemo = (request: DemoRequest): DemoAnswer => {
  const words = answerText(request);
  const calls = chooseTools(request).map((tool) => callOf(tool, words));
  const reasoning = wantsReasoning(request) ? reason(request, calls) : '';
  const limit = request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY;
  const whole = calls.length > 0 ? '' : inFormat(words, request);
  const text = capText(whole, limit - tokens(reasoning));
  const called = calls.reduce((sum, call) => sum + tokens(call.name + call.arguments), 0);
  return {
    reasoning,
    text,
    calls,
    finish: calls.length > 0 ? 'tool_calls' : text === whole ? 'stop' : 'length',
    usage: {
      prompt: tokens(JSON.stringify([request.messages, request.tools ?? []])),
      completion: tokens(reasoning) + tokens(text) + called,
      reasoning: tokens(reasoning),
    },
  };
};

const tokens = (text: string): number => Math.ceil(text.length / 4);

const answerText = (request: DemoRequest): string => {
  const { messages, model } = request;
  const results = trailing(messages, 'tool');
  if (results.length > 0) return describeResults(results, messages);
  const lastUser = messages.findLast(({ role }) => role === 'user');
  const sentences = [
    `Hello from the built-in demo: no real model, just "${model}", which talks about what it was sent.`,
    `I read ${count(messages.length, 'message')}${describeTools(toolsOf(request))}.`,
    ...describeImages(messages.flatMap(imagesOf)),
    lastUser ? `You said: ${shorten(textOf(lastUser))}` : 'None of them was a user message.',
  ];
  return sentences.join(' ');
};

const describeResults = (results: readonly Message[], messages: readonly Message[]): string => {
  const calls = messages.flatMap(({ tool_calls: made }) => made ?? []);
  const sentences = results.map((result) => {
    const name = calls.find(({ id }) => id === result.tool_call_id)?.function.name ?? 'tool';
    return `The result of ${name} is: ${shorten(textOf(result))}`;
  });
  return sentences.join('\n');
};

const describeTools = (tools: readonly DemoTool[]): string => {
  if (tools.length === 0) return ' and no tools';
  const names = tools.slice(0, 5).map((tool) => tool.function.name);
  return ` and ${count(tools.length, 'tool')} (${names.join(', ')}${tools.length > 5 ? ', …' : ''})`;
};

const describeImages = (urls: readonly string[]): readonly string[] =>
  urls.length === 0 ? [] : [`I was shown ${count(urls.length, 'image')}: ${urls.map(describeImage).join('; ')}.`];

const describeImage = (url: string): string => {
  const [, mediaType = '', data] = /^data:([^;,]*)(?:;[^,]*)?,(.*)$/s.exec(url) ?? [];
  return data === undefined ? 'one by URL' : `${mediaType}, ${Buffer.from(data, 'base64').length} bytes`;
};

const wantsReasoning = ({ reasoning_effort: effort, enable_thinking: enabled, thinking }: DemoRequest): boolean =>
  (effort ?? 'none') !== 'none' || enabled === true || thinking?.type === 'enabled';

const reason = ({ messages }: DemoRequest, calls: readonly DemoCall[]): string => {
  const plan =
    calls.length > 0 ? `I should call ${calls.map(({ name }) => name).join(' and ')}.` : 'I can answer at once.';
  return `The newest of ${count(messages.length, 'message')} is from the ${messages.at(-1)?.role}. ${plan}`;
};

const callOf = (tool: DemoTool, words: string): DemoCall => {
  const value = exampleValue(tool.function.parameters ?? {});
  const plain = isRecord(value) ? value : {};
  return {
    name: tool.function.name,
    arguments: JSON.stringify(endsConversation(tool) ? withWords(plain, words) : plain),
  };
};

/** Replaces the first string argument with the answer's text. */
const withWords = (value: Readonly<Record<string, Json | undefined>>, words: string) => {
  const name = Object.keys(value).find((key) => typeof value[key] === 'string');
  return name === undefined ? value : { ...value, [name]: words };
};

const isRecord = (value: Json): value is Readonly<Record<string, Json | undefined>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const inFormat = (text: string, { response_format: format }: DemoRequest): string =>
  format?.type === 'json_object' ? JSON.stringify({ answer: text }) : text;

/** Cuts a text to at most `limit` tokens, at a word boundary. */
const capText = (text: string, limit: number): string => {
  if (tokens(text) <= limit) return text;
  const cut = text.slice(0, Math.max(0, limit) * 4);
  return cut.slice(0, Math.max(cut.lastIndexOf(' '), 0));
};

const shorten = (text: string): string =>
  text.length <= maxEcho ? text : `${text.slice(0, maxEcho).replace(/[\ud800-\udbff]$/, '')}…`;

const trailing = (messages: readonly Message[], role: string): readonly Message[] =>
  messages.slice(messages.findLastIndex((message) => message.role !== role) + 1);

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
