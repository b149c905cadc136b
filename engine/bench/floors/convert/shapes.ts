/** Texts in blocks, or one string. */
export type TextContent = string | readonly { readonly text?: string }[];

/** What the floors read of a request of Messages. */
export interface MessagesRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly stream?: boolean;
  readonly temperature?: number;
  readonly system?: TextContent;
  readonly messages: readonly MessagesTurn[];
  readonly tools?: readonly { readonly name: string; readonly description?: string; readonly input_schema: object }[];
}

export interface MessagesTurn {
  readonly role: string;
  readonly content: string | readonly MessagesBlock[];
}

export type MessagesBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object }
  | { readonly type: 'tool_result'; readonly tool_use_id: string; readonly content: TextContent };

/** What the floors read of an answer of Messages. */
export interface MessagesReply {
  readonly id: string;
  readonly model: string;
  readonly content: readonly MessagesBlock[];
  readonly stop_reason: string;
  readonly usage: MessagesUsage;
}

export interface MessagesUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** What the floors read of a stream of Messages. */
export type MessagesEvent =
  | { readonly type: 'message_start'; readonly message: MessagesReply }
  | { readonly type: 'content_block_start'; readonly content_block: MessagesBlock }
  | {
      readonly type: 'content_block_delta';
      readonly delta:
        | { readonly type: 'text_delta'; readonly text: string }
        | { readonly type: 'input_json_delta'; readonly partial_json: string };
    }
  | {
      readonly type: 'message_delta';
      readonly delta: { readonly stop_reason: string };
      readonly usage: { readonly output_tokens: number };
    }
  | { readonly type: 'ping' | 'content_block_stop' | 'message_stop' };

/** What the floors read of a request of Chat Completions. */
export interface ChatRequest {
  readonly model: string;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly stream?: boolean;
  readonly temperature?: number;
  readonly messages: readonly ChatTurn[];
  readonly tools?: readonly {
    readonly function: { readonly name: string; readonly description?: string; readonly parameters?: object };
  }[];
}

export interface ChatTurn {
  readonly role: string;
  readonly content: TextContent | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly ChatCall[];
}

export interface ChatCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** What the floors read of an answer of Chat Completions. */
export interface ChatReply {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly {
    readonly message: { readonly content: string | null; readonly tool_calls?: readonly ChatCall[] };
    readonly finish_reason: string;
  }[];
  readonly usage?: ChatUsage;
}

/** What the floors read of a stream of Chat Completions. */
export interface ChatChunk {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly {
    readonly delta: { readonly content?: string | null; readonly tool_calls?: readonly Partial<ChatCall>[] };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: ChatUsage | null;
}

/** What the floors read of a request of Responses. */
export interface ResponsesRequest {
  /** Of a WebSocket message alone. */
  readonly type?: string;
  readonly model: string;
  readonly max_output_tokens?: number;
  readonly stream?: boolean;
  readonly temperature?: number;
  readonly instructions?: string;
  readonly input: string | readonly ResponsesItem[];
  readonly tools?: readonly { readonly name: string; readonly description?: string; readonly parameters?: object }[];
}

export type ResponsesItem =
  | { readonly type: 'message'; readonly role: string; readonly content: TextContent }
  | { readonly type: 'function_call'; readonly call_id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'function_call_output'; readonly call_id: string; readonly output: string };

/** What the floors read of an answer of Responses. */
export interface ResponsesReply {
  readonly output: readonly object[];
}

/** What the floors read of a stream of Responses. */
export interface ResponsesEvent {
  readonly type: string;
}

/** What the floors read of an answer of the Gemini API, and of each record of its streams. */
export interface GeminiReply {
  readonly candidates: readonly {
    readonly content?: { readonly parts?: readonly GeminiPart[] };
    readonly finishReason?: string;
  }[];
  readonly usageMetadata?: { readonly promptTokenCount?: number; readonly candidatesTokenCount?: number };
  readonly modelVersion: string;
  readonly responseId: string;
}

interface GeminiPart {
  readonly text?: string;
  readonly functionCall?: { readonly name: string; readonly args?: object };
}
