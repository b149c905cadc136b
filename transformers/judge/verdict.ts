import type { Reply } from 'junctor/transformer';

/** A judge's verdict on a call. */
export interface Verdict {
  readonly answer: 'flagged' | 'not_flagged';
  /** Why, for the user; empty: the judge gives no reason. */
  readonly explanation: string;
}

/** Longest explanation that a client gets, in characters. */
const maxExplanation = 500;

/**
 * The verdict that a judge's answer is; `undefined` if it is anything else. The whole text must be the verdict: one that stands among other
 * words may be quoted from the call. `atLeast`: how likely it must be that the call isn't flagged; then an answer that doesn't say how likely
 * it is lets nothing pass.
 */
export const verdictOf = (
  { text, events }: Pick<Reply, 'text' | 'events'>,
  atLeast: number | undefined,
): Verdict | undefined => {
  const end = events.at(-1);
  if (end?.type !== 'message-stop' || end.finish !== 'end') return undefined;
  const verdict = verdictIn(parsed(unfenced(text.trim())));
  if (verdict?.answer !== 'not_flagged' || atLeast === undefined) return verdict;
  const probability = end.probabilities?.not_flagged;
  if (probability === undefined) return undefined;
  return probability >= atLeast ? verdict : { answer: 'flagged', explanation: 'The judge is not sure' };
};

/** A verdict as an answer or the memory has it. */
export const verdictIn = (value: unknown): Verdict | undefined => {
  if (typeof value !== 'object' || value === null || !('answer' in value)) return undefined;
  const { answer } = value;
  if (answer !== 'flagged' && answer !== 'not_flagged') return undefined;
  const explanation = 'explanation' in value && typeof value.explanation === 'string' ? value.explanation : '';
  return { answer, explanation: oneSentence(explanation.slice(0, maxExplanation)) };
};

/** On one line; the client ends the sentence. */
const oneSentence = (text: string): string => {
  const line = text.replaceAll('\n', ' ').trim();
  return line.endsWith('.') ? line.slice(0, -1) : line;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The inside of a code block that is the whole text. */
const unfenced = (text: string): string =>
  text.startsWith('```') && text.endsWith('```') ? text.slice(text.indexOf('\n') + 1, -3) : text;
