import { type AnswerText, answerText, stampPattern } from '../corpus.ts';
import type { Wire } from '../wire.ts';
import { decodeStream, decodeWhole } from './decode-answer.ts';

/** An answer as it arrived. */
export interface Arrived {
  readonly status: number;
  readonly chunks: readonly Buffer[];
  /** Microseconds of the monotonic clock at which each chunk arrived; empty for whole answers. */
  readonly atUs: readonly number[];
  /** The same of the meant start. */
  readonly meantUs: number;
}

/** Compares answers with what the upstream was told to say. */
export class AnswerCheck {
  readonly #wire: Wire;
  readonly #streamed: boolean;
  /** `undefined`: any text will do. */
  readonly #expected: string | undefined;
  /** Microseconds that each stamped delta was under way. */
  readonly delaysUs: number[] = [];
  /** Milliseconds from the start to each answer's first token. */
  readonly firstTokenMs: number[] = [];
  /** Milliseconds between the arrivals of two tokens of an answer. */
  readonly betweenTokensMs: number[] = [];

  constructor(wire: Wire, streamed: boolean, text: AnswerText | undefined) {
    this.#wire = wire;
    this.#streamed = streamed;
    this.#expected = text && answerText(text);
  }

  /** What is wrong with the answer; `undefined` when nothing is. */
  fault({ status, chunks, atUs, meantUs }: Arrived): string | undefined {
    const body = Buffer.concat(chunks);
    if (status !== 200) return `status ${status}: ${body.toString('utf8', 0, 200)}`;
    if (!this.#streamed) {
      const { text, fault } = decodeWhole(this.#wire, body.toString());
      return fault ?? this.#difference(text);
    }
    let chunk = 0;
    let chunkEnd = chunks[0]?.length ?? 0;
    let beforeUs: number | undefined;
    const { text, fault } = decodeStream(this.#wire, body, (delta, endsAt) => {
      while (chunkEnd < endsAt) {
        chunk += 1;
        chunkEnd += chunks[chunk]?.length ?? 0;
      }
      const arrivedUs = atUs[chunk];
      if (arrivedUs === undefined) return;
      if (beforeUs === undefined) this.firstTokenMs.push((arrivedUs - meantUs) / 1e3);
      else this.betweenTokensMs.push((arrivedUs - beforeUs) / 1e3);
      beforeUs = arrivedUs;
      for (const [, digits] of delta.matchAll(stampPattern)) this.delaysUs.push(arrivedUs - Number(digits));
    });
    return fault ?? this.#difference(text.replace(stampPattern, ''));
  }

  #difference(text: string): string | undefined {
    return this.#expected === undefined ? undefined : difference(text, this.#expected);
  }
}

const difference = (text: string, expected: string): string | undefined => {
  if (text === expected) return undefined;
  let at = 0;
  while (text[at] === expected[at]) at += 1;
  const around = (whole: string): string => JSON.stringify(whole.slice(Math.max(0, at - 10), at + 20));
  return `the text differs from character ${at} on (${text.length} came, ${expected.length} were sent): ${around(text)} for ${around(expected)}`;
};
