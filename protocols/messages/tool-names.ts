import { type CallIdForm, shortCallIds } from '../../engine/model/wire/call-ids.ts';
import type { ToolNames } from '../../engine/model/wire/tool-names.ts';

const fits = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * A tool's name as all servers of this format accept it. Newer ones allow 128 characters, older ones 64. Source:
 * Anthropic API reference, "Create a Message", `tools`.
 */
export const wireName = (names: ToolNames, name: string): string => names.wire(name, fits, 64);

/** Call ids. Source: Anthropic API reference, "Create a Message", `tool_use.id`. */
const callIdForm: CallIdForm = { ...shortCallIds, fits: /^[a-zA-Z0-9_-]+$/ };

/** A call's id as sent upstream. */
export const wireCallId = (id: string, { callIds }: ToolNames): string => callIds.wire(id, callIdForm);
