import type { ClientWire } from '../../engine/model/wire/client-wires.ts';

/** Arguments as text, for wire formats that use text. */
export const quoted = (args: string): string => JSON.stringify(args);

/** A client's body whose history holds one call with these arguments, written as they are. */
export const histories: Readonly<Record<ClientWire, (args: string) => string>> = {
  messages: (args) =>
    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
      {"type":"tool_use","id":"c1","name":"f","input":${args}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"}]}]}`,
  chat: (args) =>
    `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[
      {"id":"c1","type":"function","function":{"name":"f","arguments":${quoted(args)}}}]},
      {"role":"tool","tool_call_id":"c1","content":"r"}]}`,
  responses: (args) =>
    `{"model":"m","input":[{"role":"user","content":"a"},
      {"type":"function_call","call_id":"c1","name":"f","arguments":${quoted(args)}},
      {"type":"function_call_output","call_id":"c1","output":"r"}]}`,
};

/** A vendor's reply with one such call: whole, and as the data of a stream's records. */
interface Written {
  readonly whole: string;
  readonly records: readonly string[];
}

export const callReplies: Readonly<Record<string, (args: string) => Written>> = {
  messages: (args) => ({
    whole: `{"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","content":[
      {"type":"tool_use","id":"c1","name":"f","input":${args}}],"usage":{"input_tokens":1,"output_tokens":1}}`,
    records: [
      '{"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":1,"output_tokens":1}}}',
      `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"f","input":${args}}}`,
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}',
      '{"type":"message_stop"}',
    ],
  }),
  chat: (args) => ({
    whole: `{"id":"x","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant",
      "tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":${quoted(args)}}}]}}]}`,
    records: [
      `{"id":"x","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function",
        "function":{"name":"f","arguments":${quoted(args)}}}]}}]}`,
      '{"id":"x","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}',
      '[DONE]',
    ],
  }),
  responses: (args) => {
    const call = (status: string, text: string): string =>
      `{"id":"fc_1","type":"function_call","status":"${status}","call_id":"c1","name":"f","arguments":${text}}`;
    const response = `{"id":"resp_1","object":"response","status":"completed","model":"m","output":[${call('completed', quoted(args))}]}`;
    return {
      whole: response,
      records: [
        '{"type":"response.created","response":{"id":"resp_1","status":"in_progress","model":"m","output":[]}}',
        `{"type":"response.output_item.added","output_index":0,"item":${call('in_progress', '""')}}`,
        `{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":${quoted(args)}}`,
        `{"type":"response.output_item.done","output_index":0,"item":${call('completed', quoted(args))}}`,
        `{"type":"response.completed","response":${response}}`,
      ],
    };
  },
  gemini: (args) => {
    const body = `{"responseId":"r","modelVersion":"m","candidates":[{"content":{"role":"model","parts":[
      {"functionCall":{"id":"c1","name":"f","args":${args}}}]},"finishReason":"STOP"}]}`;
    return { whole: body, records: [body.replaceAll('\n', '')] };
  },
};
