import { isJsonObject, type Json } from '../../api/json.ts';
import { type Protocol, protocols } from '../../api/protocols.ts';
import type { Prompt } from './prompt.ts';

/** Where the prompt is sent: one protocol, or all at once. */
export type Target = Protocol | 'all';

/** All targets, in display order. */
export const targets: readonly Target[] = [...protocols, 'all'];

/** The page's input. */
export interface PlaygroundDraft {
  readonly target: Target;
  /** The model that was picked; empty: the rules choose it. */
  readonly model: string | undefined;
  readonly prompt: Omit<Prompt, 'model'>;
  /** Edited bodies; they replace the form's. */
  readonly bodies: Partial<Readonly<Record<Protocol, string>>>;
  readonly capture: boolean;
  /** Further models that get the same request. */
  readonly others?: readonly string[] | undefined;
}

/** The input on the first visit. */
export const firstDraft: PlaygroundDraft = {
  target: 'messages',
  model: undefined,
  prompt: {
    system: '',
    text: 'Why does a signal box have so many levers?',
    stream: true,
    maxTokens: 1_024,
    withTool: false,
    thinking: false,
  },
  bodies: {},
  capture: true,
};

/** A prompt that was sent. */
export interface SentPrompt {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly target: Target;
  readonly prompt: Prompt;
}

/** Maximum kept. */
export const mostSent = 20;

/** Whether a kept value is the page's input. */
export const isDraft = (value: unknown): value is PlaygroundDraft =>
  isJsonObject(value) &&
  isTarget(value.target) &&
  isOptional('string', value.model) &&
  isPrompt(value.prompt) &&
  isJsonObject(value.bodies) &&
  Object.entries(value.bodies).every(([target, text]) => isTarget(target) && typeof text === 'string') &&
  typeof value.capture === 'boolean' &&
  (value.others === undefined || (Array.isArray(value.others) && value.others.every((one) => typeof one === 'string')));

/** Whether a kept value is a list of sent prompts. */
export const isSentList = (value: unknown): value is readonly SentPrompt[] =>
  Array.isArray(value) && value.every(isSent);

const isSent = (value: unknown): boolean =>
  isJsonObject(value) &&
  typeof value.at === 'number' &&
  isTarget(value.target) &&
  isJsonObject(value.prompt) &&
  typeof value.prompt.model === 'string' &&
  isPrompt(value.prompt);

const isTarget = (value: Json | undefined): boolean => targets.some((target) => target === value);

/** Everything but the model. */
const isPrompt = (value: Json | undefined): boolean =>
  isJsonObject(value) &&
  [value.system, value.text].every((text) => typeof text === 'string') &&
  [value.stream, value.withTool, value.thinking].every((flag) => typeof flag === 'boolean') &&
  isOptional('number', value.maxTokens) &&
  isOptional('number', value.temperature) &&
  isOptional('string', value.effort) &&
  (value.turns === undefined || (Array.isArray(value.turns) && value.turns.every(isTurn)));

const isTurn = (value: Json): boolean =>
  isJsonObject(value) &&
  (value.role === 'user' || value.role === 'assistant') &&
  Array.isArray(value.parts) &&
  value.parts.every(isPart);

const isPart = (value: Json): boolean => {
  if (!isJsonObject(value)) return false;
  const { type, text, url, name, id, input, result } = value;
  switch (type) {
    case 'text':
      return typeof text === 'string';
    case 'picture':
      return typeof url === 'string';
    case 'file':
      return typeof name === 'string';
    case 'tool':
      return [name, id, input].every((one) => typeof one === 'string') && (result === undefined || isResult(result));
    default:
      return false;
  }
};

const isResult = (value: Json): boolean =>
  isJsonObject(value) && typeof value.failed === 'boolean' && Array.isArray(value.parts) && value.parts.every(isPart);

/** A prompt as the tab keeps it: the browser's storage is too small for pictures. */
export const withoutPictures = <P extends Pick<Prompt, 'turns'>>(prompt: P): P => ({
  ...prompt,
  turns: prompt.turns?.map(({ role, parts }) => ({
    role,
    parts: parts.map((part) => (part.type === 'picture' ? ({ type: 'file', name: 'image' } as const) : part)),
  })),
});

const isOptional = (type: 'string' | 'number', value: Json | undefined): boolean =>
  value === undefined || typeof value === type;
