import { type Protocol, protocols } from '../../api/protocols.ts';
import type { Prompt } from './prompt.ts';

/** Where the prompt is sent: one protocol, or all at once. */
export type Target = Protocol | 'all';

/** All targets, in display order. */
export const targets: readonly Target[] = [...protocols, 'all'];

/** The page's input. */
interface PlaygroundDraft {
  readonly target: Target;
  /** The model that was picked; by default the first one listed. */
  readonly model: string | undefined;
  readonly prompt: Omit<Prompt, 'model'>;
  /** Edited bodies; they replace the form's. */
  readonly bodies: Partial<Readonly<Record<Protocol, string>>>;
  readonly capture: boolean;
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

/** How many are kept. */
export const mostSent = 20;
