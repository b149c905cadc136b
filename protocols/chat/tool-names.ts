import type { ToolNames } from '../../engine/model/wire/tool-names.ts';
import type { ChatDialect } from './dialect.ts';

/** The names that servers accept. Source: OpenAI API reference, "Create chat completion", `tools`. */
const nameFits = /^[a-zA-Z0-9_-]{1,64}$/;
const maxNameLength = 64;

/** A tool's name as sent upstream. */
export const wireName = (names: ToolNames, name: string): string => names.wire(name, nameFits, maxNameLength);

/** A call's id as sent upstream. */
export const wireCallId = (id: string, { callIds }: ToolNames, dialect: ChatDialect): string =>
  callIds.wire(id, dialect.callIds);
