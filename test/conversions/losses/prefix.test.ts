import test from 'ava';
import fc, { type Arbitrary } from 'fast-check';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { stages } from '../../../transformers/index.ts';
import { chatHead, chatRounds } from '../../support/arbitraries/chat.ts';
import { messagesHead, messagesRounds } from '../../support/arbitraries/messages.ts';
import { responsesHead, responsesRounds } from '../../support/arbitraries/responses.ts';
import { clientOf, convert, targets } from './pairs.ts';

/** A client's conversations: what surrounds one, the list it stands in, and how it goes on. */
interface Talk {
  readonly head: Arbitrary<JsonObject>;
  readonly list: string;
  readonly rounds: Arbitrary<readonly (readonly JsonObject[])[]>;
}

const talks: Readonly<Record<string, Talk>> = {
  messages: { head: messagesHead, list: 'messages', rounds: messagesRounds },
  chat: { head: chatHead, list: 'messages', rounds: chatRounds },
  responses: { head: responsesHead, list: 'input', rounds: responsesRounds },
};

/** The conversation in an upstream's body. */
const conversation = ({ messages, input, contents }: JsonObject): readonly unknown[] => {
  const list = messages ?? input ?? contents;
  return Array.isArray(list) ? list : [];
};

/** What stands before the conversation in the vendors' caches. */
const front = ({ system, instructions, systemInstruction, tools }: JsonObject): JsonObject => ({
  system,
  instructions,
  systemInstruction,
  tools,
});

/** The beginnings of a conversation that were requests of their own: those after which the model spoke. */
const beginnings = (items: readonly JsonObject[]): readonly (readonly JsonObject[])[] =>
  items.flatMap((item, index) => {
    const before = items[index - 1];
    return index > 0 && speaks(item) && before && !speaks(before) ? [items.slice(0, index)] : [];
  });

const speaks = ({ role, type }: JsonObject): boolean =>
  role === 'assistant' || (typeof type === 'string' && /^(?:reasoning|.*_call)$/.test(type));

const options: Readonly<Record<string, unknown>> = {
  maxtoken: { max_tokens: 100 },
  reasoning: { enable: true },
};

const configured = [...stages.values()]
  .filter(({ halves }) => halves.request)
  .map((stage) => stage.configure(options[stage.name]));

/** Marks for a cache aren't part of what it holds, and a text in parts is the same as the text. */
const unmarked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unmarked);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([name]) => name !== 'cache_control' && name !== 'prompt_cache_breakpoint')
    .map(([name, member]) => [
      name,
      name === 'content' && typeof member === 'string' ? [{ type: 'text', text: member }] : unmarked(member),
    ]);
  return Object.fromEntries(entries);
};

const plans = [undefined, ...configured].map((stage) => ({
  stage,
  runs: stage ? 6 : 25,
  behind: stage ? ` behind ${stage.name}` : '',
  text: (value: unknown): string => JSON.stringify(stage?.name === 'cachepoints' ? unmarked(value) : value),
}));

for (const [wire, { head, list, rounds }] of Object.entries(talks)) {
  const client = clientOf(wire);
  for (const [target, { stage, runs, behind, text }] of targets.flatMap((one) =>
    plans.map((plan) => [one, plan] as const),
  )) {
    test(`${wire} → ${target.name}${behind}: a longer conversation begins with the same bytes`, (t) => {
      let compared = 0;
      fc.assert(
        fc.property(head, rounds, (around, growing) => {
          const whole = [...(growing.at(-1) ?? []), { role: 'user', content: 'and now?' }];
          const later = convert(client, { ...around, [list]: whole }, target, stage);
          if ('refused' in later) return;
          for (const items of beginnings(whole)) {
            const earlier = convert(client, { ...around, [list]: items }, target, stage);
            if ('refused' in earlier) throw new Error(`refused at first: ${earlier.refused}`);
            if (
              isJsonObject(around) &&
              Array.isArray(around.tools) &&
              text(front(earlier.body)) !== text(front(later.body))
            ) {
              throw new Error(`instructions or tools: ${text(front(earlier.body))} became ${text(front(later.body))}`);
            }
            const kept = conversation(later.body);
            for (const [index, message] of conversation(earlier.body).entries()) {
              compared += 1;
              if (text(message) === text(kept[index])) continue;
              throw new Error(`${index}: ${text(message)} became ${text(kept[index])}`);
            }
          }
        }),
        { numRuns: runs, seed: 1 },
      );
      t.true(compared > (stage ? 0 : 20));
    });
  }
}
