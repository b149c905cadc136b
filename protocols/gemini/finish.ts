import type { FinishReason } from '../../engine/model/event.ts';

/** The words of answers that ended by themselves or were cut. Source: Gemini API reference, "FinishReason". */
const reasons: Readonly<Record<string, FinishReason>> = {
  STOP: 'end',
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
  IMAGE_SAFETY: 'filtered',
  IMAGE_PROHIBITED_CONTENT: 'filtered',
  IMAGE_RECITATION: 'filtered',
  MODEL_ARMOR: 'filtered',
};

/**
 * Why the answer ended; `undefined` for the words of failures, among them an unusable function call. New words count as
 * failures too: all that were added over the years were.
 */
export const decodeFinish = (word: string): FinishReason | undefined =>
  Object.hasOwn(reasons, word) ? reasons[word] : undefined;
