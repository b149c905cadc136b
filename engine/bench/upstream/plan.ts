import type { AnswerText } from '../corpus.ts';

/** How the simulated upstream answers every request from now on. */
export interface UpstreamPlan extends AnswerText {
  /** Answers with Server-Sent Events; otherwise with one JSON body. */
  readonly streamed: boolean;
  /** Deltas that go out in one write. */
  readonly perWrite: number;
  /** Milliseconds between two writes of one stream; 0 sends as fast as the reader takes it. */
  readonly intervalMs: number;
  /** Where writes end: after whole records, or at odd bytes, amid characters too. */
  readonly cuts: 'records' | 'odd';
  /** An answer of a real provider, which takes the place of all of the above. */
  readonly recorded?: {
    readonly status: number;
    readonly type: string;
    /** `atMs`: from the head of the answer on. */
    readonly chunks: readonly { readonly atMs: number; readonly base64: string }[];
  };
}

/** A plain answer of some sentences. */
export const wholeAnswer: UpstreamPlan = {
  streamed: false,
  deltas: 1,
  deltaChars: 400,
  stamped: false,
  perWrite: 1,
  intervalMs: 0,
  cuts: 'records',
};

/** A streamed answer, sent as fast as it is taken. */
export const streamedAnswer = (more: Partial<UpstreamPlan>): UpstreamPlan => ({
  ...wholeAnswer,
  streamed: true,
  deltas: 100,
  deltaChars: 8,
  ...more,
});
