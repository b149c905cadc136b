import { useCallback, useState } from 'react';
import { isJsonObject, type Json, type JsonObject, parseJson, parseObject } from '../../api/json.ts';
import { type Protocol, protocols, protocolTitles } from '../../api/protocols.ts';
import { listModels } from '../../api/service.ts';
import { useLoad } from '../../api/use-load.ts';
import { routedName } from '../../config/rules.ts';
import { toast } from '../../state/toast.ts';
import type { Turn } from '../../stream/conversation.ts';
import { convertBody } from '../../stream/convert-body.ts';
import { composeBody } from './compose-body.ts';
import {
  firstDraft,
  isDraft,
  isSentList,
  mostSent,
  type PlaygroundDraft,
  type SentPrompt,
  type Target,
  withoutPictures,
} from './draft.ts';
import { type Picture, type Prompt, turnsOf } from './prompt.ts';
import type { Job } from './runs/run.ts';
import type { Runs } from './runs/use-runs.ts';
import { useKept } from './use-kept.ts';

/** The prompt that the page edits, and what sends it. */
export type PromptState = ReturnType<typeof usePrompt>;

/** Edits a prompt, and sends it by `start`. Its text survives a reload, its pictures don't. */
export const usePrompt = ({ running, start }: Pick<Runs, 'running' | 'start'>) => {
  const [draft, changeDraft] = useKept('playground', firstDraft, isDraft, keptDraft);
  const [sent, changeSent] = useKept('playground.sent', [], isSentList, keptList);
  const [picture, setPicture] = useState<Picture>();
  const models = useLoad(useCallback((signal: AbortSignal) => listModels(signal), []));

  const { target, bodies, capture, others = [] } = draft;
  const prompt: Prompt = { ...draft.prompt, model: draft.model || routedName };
  const asked = protocolsOf(target);
  const edited = asked.filter((protocol) => bodies[protocol] !== undefined);
  const bodyFor = (protocol: Protocol): Json | undefined => {
    const text = bodies[protocol];
    return text === undefined ? composeBody(protocol, prompt, picture) : parseJson(text);
  };
  const [firstEdited] = edited;
  const problem = problemOf(prompt, picture, edited.length < asked.length, asked.map(bodyFor));

  return {
    target,
    prompt,
    /** The model that is asked for: the form's, or that of the edited body. */
    model: firstEdited === undefined ? (draft.model ?? '') : modelIn(bodyFor(firstEdited)),
    others,
    picture,
    models,
    capture,
    sent,
    /** The protocols whose body was edited; it is sent instead of the form's. */
    edited,
    /** Nothing is sent of the form. */
    isAllEdited: edited.length === asked.length,
    bodies,
    /** Why the prompt can't be sent. */
    problem,
    setPicture,
    setOthers: (next: readonly string[]): void => changeDraft((before) => ({ ...before, others: next })),
    /** An edited body goes along, converted where there is none in the other protocol. */
    setTarget: (next: Target): void => {
      const converted = convertedFor(draft, next);
      if (converted.size > 0) {
        const titles = [...converted.keys()].map((protocol) => protocolTitles[protocol]).join(' and ');
        toast(`The body was converted to ${titles}, without thinking, files and settings of its protocol alone.`);
      }
      changeDraft((before) => ({
        ...before,
        target: next,
        bodies: { ...before.bodies, ...Object.fromEntries(converted) },
      }));
    },
    setCapture: (next: boolean): void => changeDraft((before) => ({ ...before, capture: next })),
    changePrompt: (part: Partial<Omit<Prompt, 'model'>>): void =>
      changeDraft((before) => ({ ...before, prompt: { ...before.prompt, ...part } })),
    /** Sets the form's model, and that of the edited bodies. */
    setModel: (model: string): void =>
      changeDraft((before) => ({
        ...before,
        model,
        bodies: {
          ...before.bodies,
          ...Object.fromEntries(
            edited.map((protocol) => [protocol, withModel(before.bodies[protocol] ?? '', model || routedName)]),
          ),
        },
      })),
    /** Replaces the form's body for a protocol. */
    write: (protocol: Protocol, text: string): void =>
      changeDraft((before) => ({ ...before, bodies: { ...before.bodies, [protocol]: text } })),
    /** Returns to the form's bodies. */
    returnToForm: (): void =>
      changeDraft((before) => ({
        ...before,
        bodies: Object.fromEntries(
          Object.entries(before.bodies).filter(([protocol]) => !edited.some((one) => one === protocol)),
        ),
      })),
    /** Takes a recorded request in place of all bodies. */
    take: useCallback(
      (protocol: Protocol, body: JsonObject): void =>
        changeDraft((before) => ({ ...before, target: protocol, bodies: { [protocol]: textOf(body) } })),
      [changeDraft],
    ),
    send: (): void => {
      if (running || problem !== undefined) return;
      const turns = turnsOf(prompt, picture);
      start(
        asked.flatMap((protocol) => {
          const jobs = jobsFor(protocol, bodyFor(protocol) ?? null, target === 'all' ? [] : others);
          return bodies[protocol] === undefined ? jobs.map((job) => ({ ...job, turns })) : jobs;
        }),
        capture,
      );
      if (edited.length === 0)
        changeSent((before) => [{ at: Date.now(), target, prompt }, ...before].slice(0, mostSent));
    },
    /** Goes on with a conversation: the next message, or the results of calls, are to be written. */
    goOn: (turns: readonly Turn[]): void => {
      setPicture(undefined);
      changeDraft((before) => ({ ...before, prompt: { ...before.prompt, turns, text: '' } }));
    },
    /** Restores a sent prompt. */
    pick: ({ target: sentTo, prompt: { model, ...rest } }: SentPrompt): void =>
      changeDraft((before) => ({ ...before, target: sentTo, model, prompt: rest })),
  };
};

const keptDraft = (draft: PlaygroundDraft): PlaygroundDraft => ({ ...draft, prompt: withoutPictures(draft.prompt) });

const keptList = (list: readonly SentPrompt[]): readonly SentPrompt[] =>
  list.map((sent) => ({ ...sent, prompt: withoutPictures(sent.prompt) }));

const protocolsOf = (target: Target): readonly Protocol[] => (target === 'all' ? protocols : [target]);

const problemOf = (
  prompt: Prompt,
  picture: Picture | undefined,
  usesForm: boolean,
  bodies: readonly (Json | undefined)[],
): string | undefined => {
  if (bodies.includes(undefined)) return 'The body is not valid JSON yet.';
  if (!usesForm) return undefined;
  if (prompt.text.trim() === '' && !picture && !hasResult(prompt)) return 'Write a message first.';
  return prompt.maxTokens !== undefined && !(Number.isInteger(prompt.maxTokens) && prompt.maxTokens > 0)
    ? 'Max output tokens must be a whole number of at least 1.'
    : undefined;
};

/** Whether a call of the last response has its result. */
const hasResult = ({ turns = [] }: Prompt): boolean =>
  turns.at(-1)?.parts.some((part) => part.type === 'tool' && part.result) === true;

const textOf = (body: Json): string => JSON.stringify(body, null, 2);

const modelIn = (body: Json | undefined): string =>
  isJsonObject(body) && typeof body.model === 'string' ? body.model : '';

/** A text that isn't an object stays as it is. */
const withModel = (text: string, model: string): string => {
  const body = parseObject(text);
  return body ? textOf({ ...body, model }) : text;
};

/** What is converted of an edited body for another target. */
const convertedFor = ({ target, bodies }: PlaygroundDraft, next: Target): ReadonlyMap<Protocol, string> => {
  const from = protocolsOf(target).find((protocol) => bodies[protocol] !== undefined);
  const body = from && parseObject(bodies[from] ?? '');
  if (!from || !body) return new Map();
  const missing = protocolsOf(next).filter((protocol) => bodies[protocol] === undefined);
  return new Map(missing.map((protocol) => [protocol, textOf(convertBody(body, from, protocol))]));
};

/** A request, and the same to other models if there are any. */
const jobsFor = (protocol: Protocol, body: Json, others: readonly string[]): readonly Job[] => {
  const title = protocolTitles[protocol];
  const first = modelIn(body);
  const models = [...new Set([first, ...others])];
  if (models.length === 1 || !isJsonObject(body)) return [{ title, protocol, body }];
  return models.map((model) => ({
    title: `${title}: ${model === routedName ? 'by the rules' : model}`,
    protocol,
    body: { ...body, model },
  }));
};
