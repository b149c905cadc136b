import type { FinishReason } from '../../engine/model/event.ts';

/** Finish reasons of replies that ended normally or were cut off. Source: Gemini API reference, "FinishReason". */
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
 * Finish reason → finish; `undefined` for failures, such as an unusable function call. Unknown values count as
 * failures: all values added so far are.
 */
export const decodeFinish = (word: string): FinishReason | undefined =>
  Object.hasOwn(reasons, word) ? reasons[word] : undefined;
