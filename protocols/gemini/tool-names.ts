import type { ToolCallPart } from '../../engine/model/request.ts';
import type { ToolNames } from '../../engine/model/wire/tool-names.ts';

const fits = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/**
 * A function's name as all models accept it; newer ones allow 128 characters, dots and colons. Source: Gemini API
 * reference, "FunctionDeclaration".
 */
export const wireName = (names: ToolNames, name: string): string => names.wire(name, fits, 64);

/** This protocol's wire format, for its signatures. */
export const wireFormat = 'gemini';

const madeUp = /^call_[0-9a-f]+_\d+$/;

/** Ids issued by the vendor: 8 characters, or `call_` and digits. Source: recorded replies. */
const issued = /^(?:[a-z0-9]{8}|call_\d+)$/;

/** The id of call number `count` if the vendor sent none: clients require one. */
export const makeCallId = (requestId: string, count: number): string => `call_${requestId}_${count}`;

/** Whether the vendor issued the call's id, and so expects it back: by the id's form or the vendor's signature. */
export const hasOwnId = ({ id, signature }: ToolCallPart): boolean =>
  !madeUp.test(id) && (issued.test(id) || signature?.format === wireFormat);
