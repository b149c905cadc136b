import { type AnswerText, answerText, stampPattern } from '../corpus.ts';
import type { Wire } from '../wire.ts';
import { decodeStream, decodeWhole } from './decode-answer.ts';

/** An answer as it arrived. */
export interface Arrived {
  readonly status: number;
  readonly chunks: readonly Buffer[];
  /** Microseconds of the monotonic clock at which each chunk arrived; empty where they are not asked for. */
  readonly atUs: readonly number[];
}

/** Compares answers with what the upstream was told to say. */
export class AnswerCheck {
  readonly #wire: Wire;
  readonly #streamed: boolean;
  readonly #expected: string;
  /** Microseconds that each stamped delta was under way. */
  readonly delaysUs: number[] = [];

  constructor(wire: Wire, streamed: boolean, text: AnswerText) {
    this.#wire = wire;
    this.#streamed = streamed;
    this.#expected = answerText(text);
  }

  /** What is wrong with the answer; `undefined` when nothing is. */
  fault({ status, chunks, atUs }: Arrived): string | undefined {
    const body = Buffer.concat(chunks);
    if (status !== 200) return `status ${status}: ${body.toString('utf8', 0, 200)}`;
    if (!this.#streamed) {
      const { text, fault } = decodeWhole(this.#wire, body.toString());
      return fault ?? difference(text, this.#expected);
    }
    let chunk = 0;
    let chunkEnd = chunks[0]?.length ?? 0;
    const { text, fault } = decodeStream(this.#wire, body, (delta, endsAt) => {
      while (chunkEnd < endsAt) {
        chunk += 1;
        chunkEnd += chunks[chunk]?.length ?? 0;
      }
      const arrivedUs = atUs[chunk];
      if (arrivedUs === undefined) return;
      for (const [, digits] of delta.matchAll(stampPattern)) this.delaysUs.push(arrivedUs - Number(digits));
    });
    return fault ?? difference(text.replace(stampPattern, ''), this.#expected);
  }
}

const difference = (text: string, expected: string): string | undefined => {
  if (text === expected) return undefined;
  let at = 0;
  while (text[at] === expected[at]) at += 1;
  const around = (whole: string): string => JSON.stringify(whole.slice(Math.max(0, at - 10), at + 20));
  return `the text differs from character ${at} on (${text.length} came, ${expected.length} were sent): ${around(text)} for ${around(expected)}`;
};
