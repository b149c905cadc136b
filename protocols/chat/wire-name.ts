import type { ToolNames } from '../../engine/model/tool-names.ts';

/** Which names the wire takes. Source: OpenAI API reference, "Create chat completion", `tools`. */
const nameFits = /^[a-zA-Z0-9_-]{1,64}$/;
const maxNameLength = 64;

/** A tool's name as it is written upstream. */
export const wireName = (names: ToolNames, name: string): string => names.wire(name, nameFits, maxNameLength);
