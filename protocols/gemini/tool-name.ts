import type { ToolNames } from '../../engine/model/tool-names.ts';

const fits = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/**
 * A function's name as every model takes it; newer ones allow 128 characters, dots and colons.
 * Source: Gemini API reference, "FunctionDeclaration".
 */
export const wireName = (names: ToolNames, name: string): string => names.wire(name, fits, 64);
