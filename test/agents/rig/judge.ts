import { chatStream } from '../../support/upstreams/chat-stream.ts';
import { type Reaction, sseAnswer } from '../../support/upstreams/upstream.ts';

/** Where the gateway asks for verdicts on calls. */
export const judge = { name: 'judge', baseUrl: 'http://judge.example/v1', model: 'judge-1' } as const;

/** A word of a call that is flagged. */
export const harmful = 'harmful';

/** The answer of a judge that looks for one word. */
export const judgeAnswer = (text: string): Reaction => {
  const verdict = text.includes(harmful)
    ? { answer: 'flagged', explanation: 'The judge of the tests says so' }
    : { answer: 'not_flagged', explanation: '' };
  return sseAnswer(chatStream([JSON.stringify(verdict)], 0));
};
