import { chatStream } from '../../support/upstreams/chat-stream.ts';
import { type Reaction, sseAnswer } from '../../support/upstreams/upstream.ts';

/** Where the gateway asks for verdicts on calls. */
export const judge = { name: 'judge', baseUrl: 'http://judge.example/v1', model: 'judge-1' } as const;

/** A word of a call that is flagged. */
export const harmful = 'harmful';

const why = 'The judge of the tests says so';

/** The answer of a judge that looks for one word, in the form that Codex asks for itself, or in that of the stage `judge`. */
export const judgeAnswer = (text: string): Reaction => {
  const isHarmful = text.includes(harmful);
  const verdict = text.includes('APPROVAL REQUEST START')
    ? { outcome: isHarmful ? 'deny' : 'allow', rationale: why }
    : { answer: isHarmful ? 'flagged' : 'not_flagged', explanation: why };
  return sseAnswer(chatStream([JSON.stringify(verdict)], 0));
};
