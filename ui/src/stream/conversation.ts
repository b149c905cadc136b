import type { JsonObject } from '../api/json.ts';
import type { AnswerPart } from './answer.ts';

type Other = Exclude<AnswerPart, { readonly type: 'tool' }>;
type Call = Extract<AnswerPart, { readonly type: 'tool' }>;

/** The result of a tool. */
export interface ToolResult {
  readonly failed: boolean;
  readonly parts: readonly TurnPart[];
}

/** A part of a turn. A tool call has its result, once that came. */
export type TurnPart =
  | Other
  | (Call & { readonly result?: ToolResult | undefined })
  /** `url`: a data URL of a picture, or the address of one that isn't in the request. */
  | { readonly type: 'picture'; readonly url: string }
  | { readonly type: 'file'; readonly name: string }
  /** The result of a call that the conversation doesn't have. */
  | { readonly type: 'result'; readonly id: string; readonly result: ToolResult };

export type Role = 'system' | 'user' | 'assistant';

/** One turn of a conversation. */
export interface Turn {
  readonly role: Role;
  readonly parts: readonly TurnPart[];
}

/** A tool that the model may call. */
export interface ToolDefinition {
  readonly name: string;
  readonly about: string;
  /** The JSON Schema of its input; absent for the provider's own tools. */
  readonly schema?: JsonObject | undefined;
}

/** A request's conversation, independent of the protocol. */
export interface Conversation {
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolDefinition[];
  /** All other fields of the body, as sent. */
  readonly parameters: JsonObject;
}
