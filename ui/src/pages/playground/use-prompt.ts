import { useCallback, useState } from 'react';
import { type Json, parseJson } from '../../api/json.ts';
import { protocols } from '../../api/protocols.ts';
import { listModels } from '../../api/service.ts';
import { useLoad } from '../../api/use-load.ts';
import { composeBody } from './compose-body.ts';
import { firstDraft, isDraft, isSentList, mostSent, type SentPrompt, type Target } from './draft.ts';
import type { Picture, Prompt } from './prompt.ts';
import { useKept } from './use-kept.ts';
import type { Runs } from './use-runs.ts';

/** The prompt that the page edits, and what sends it. */
export type PromptState = ReturnType<typeof usePrompt>;

/** Edits a prompt, and sends it by `start`. Its text survives a reload, its picture doesn't. */
export const usePrompt = ({ running, start }: Pick<Runs, 'running' | 'start'>) => {
  const [draft, changeDraft] = useKept('playground', firstDraft, isDraft);
  const [sent, changeSent] = useKept('playground.sent', [], isSentList);
  const [picture, setPicture] = useState<Picture>();
  const models = useLoad(useCallback((signal: AbortSignal) => listModels(signal), []));

  const { target, bodies, capture } = draft;
  const prompt: Prompt = { ...draft.prompt, model: draft.model ?? models.data?.[0]?.id ?? '' };
  const written = target === 'all' ? undefined : bodies[target];
  const value = written === undefined ? undefined : parseJson(written);
  const problem = problemOf(prompt, written, value);

  return {
    target,
    prompt,
    picture,
    models,
    capture,
    sent,
    /** The edited body, which is sent instead of the form's. */
    written,
    /** Why the prompt can't be sent. */
    problem,
    setPicture,
    setTarget: (next: Target): void => changeDraft((before) => ({ ...before, target: next })),
    setCapture: (next: boolean): void => changeDraft((before) => ({ ...before, capture: next })),
    changePrompt: ({ model, ...part }: Partial<Prompt>): void =>
      changeDraft((before) => ({
        ...before,
        ...(model !== undefined && { model }),
        prompt: { ...before.prompt, ...part },
      })),
    /** Replaces the form's body; `undefined` returns to the form's. */
    write: (text: string | undefined): void =>
      changeDraft((before) => {
        if (before.target === 'all') return before;
        const { [before.target]: _, ...others } = before.bodies;
        return { ...before, bodies: text === undefined ? others : { ...others, [before.target]: text } };
      }),
    send: (): void => {
      if (running || problem !== undefined) return;
      const asked = target === 'all' ? protocols : [target];
      start(
        asked.map((protocol) => [protocol, value ?? composeBody(protocol, prompt, picture)]),
        capture,
      );
      if (written === undefined)
        changeSent((before) => [{ at: Date.now(), target, prompt }, ...before].slice(0, mostSent));
    },
    /** Restores a sent prompt. */
    pick: ({ target: sentTo, prompt: { model, ...rest } }: SentPrompt): void =>
      changeDraft((before) => ({ ...before, target: sentTo, model, prompt: rest })),
  };
};

const problemOf = (prompt: Prompt, written: string | undefined, value: Json | undefined): string | undefined => {
  if (written !== undefined) return value === undefined ? 'The body is not valid JSON yet.' : undefined;
  if (prompt.model === '') return 'Select a model first.';
  return prompt.maxTokens !== undefined && !(Number.isInteger(prompt.maxTokens) && prompt.maxTokens > 0)
    ? 'Max output tokens must be a whole number of at least 1.'
    : undefined;
};
