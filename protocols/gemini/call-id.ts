import type { ToolCallPart } from '../../engine/model/request.ts';

/** The wire format that this folder speaks; its signatures carry this name. */
export const wireFormat = 'gemini';

const madeUp = /^call_[0-9a-f]+_\d+$/;

/** Ids as the vendor mints them: 8 characters, or `call_` and digits. Source: recorded replies. */
const minted = /^(?:[a-z0-9]{8}|call_\d+)$/;

/** The id of the reply's call number `count` where the vendor gave none: clients can't do without one. */
export const makeCallId = (requestId: string, count: number): string => `call_${requestId}_${count}`;

/** Whether the vendor itself gave the call its id, and so wants it back. The text tells; so does the vendor's signature. */
export const hasOwnId = ({ id, signature }: ToolCallPart): boolean =>
  !madeUp.test(id) && (minted.test(id) || signature?.format === wireFormat);
