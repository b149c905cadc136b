import { type Protocol, protocols } from '../../api/protocols.ts';
import type { Prompt } from './prompt.ts';

/** Where the prompt goes: one protocol, or each of them at the same time. */
export type Target = Protocol | 'all';

/** All targets, in the order in which they are offered. */
export const targets: readonly Target[] = [...protocols, 'all'];

/** What the page holds while somebody writes. */
interface PlaygroundDraft {
  readonly target: Target;
  /** The model as it was picked; the first one that the gateway lists until then. */
  readonly model: string | undefined;
  readonly prompt: Omit<Prompt, 'model'>;
  /** Bodies that were written by hand, instead of the form's. */
  readonly bodies: Partial<Readonly<Record<Protocol, string>>>;
  readonly capture: boolean;
}

/** What the page begins with. */
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

/** So many are kept. */
export const mostSent = 20;
