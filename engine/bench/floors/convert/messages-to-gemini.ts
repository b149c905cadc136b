import { parseAs } from '../../parse-as.ts';
import { textOf } from './chat-words.ts';
import { type Conversion, namedEvent, type StreamConversion } from './conversion.ts';
import type { GeminiReply, MessagesBlock, MessagesRequest, MessagesTurn } from './shapes.ts';

/** Clients of Messages before an upstream of the Gemini API. */
export const messagesToGemini: Conversion = {
  request(text) {
    const { model, system, messages, max_tokens, temperature, stream = false, tools } = parseAs<MessagesRequest>(text);
    const names = new Map<string, string>();
    const functionDeclarations = tools?.map(({ name, description, input_schema }) => ({
      name,
      description,
      parametersJsonSchema: input_schema,
    }));
    const body = {
      systemInstruction: system ? { parts: [{ text: textOf(system) }] } : undefined,
      contents: messages.map((turn) => content(turn, names)),
      generationConfig: { maxOutputTokens: max_tokens, temperature },
      tools: functionDeclarations ? [{ functionDeclarations }] : undefined,
    };
    const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    return { path: `/v1beta/models/${model}:${method}`, body, streamed: stream };
  },
  reply(text) {
    const body = parseAs<GeminiReply>(text);
    const parts = body.candidates[0]?.content?.parts ?? [];
    const blocks = parts.map((part, at) =>
      part.functionCall
        ? { type: 'tool_use', id: `toolu_${at}`, name: part.functionCall.name, input: part.functionCall.args ?? {} }
        : { type: 'text', text: part.text },
    );
    return {
      id: `msg_${body.responseId}`,
      type: 'message',
      role: 'assistant',
      model: body.modelVersion,
      content: blocks,
      stop_reason: blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: usageOf(body.usageMetadata),
    };
  },
  stream: () => geminiToMessagesStream(),
};

const usageOf = (usage: GeminiReply['usageMetadata']): object => ({
  input_tokens: usage?.promptTokenCount ?? 0,
  output_tokens: usage?.candidatesTokenCount ?? 0,
});

const content = (turn: MessagesTurn, names: Map<string, string>): object => {
  const role = turn.role === 'assistant' ? 'model' : 'user';
  if (typeof turn.content === 'string') return { role, parts: [{ text: turn.content }] };
  return { role, parts: turn.content.map((block) => part(block, names)) };
};

const part = (block: MessagesBlock, names: Map<string, string>): object => {
  switch (block.type) {
    case 'tool_use':
      names.set(block.id, block.name);
      return { functionCall: { name: block.name, args: block.input } };
    case 'tool_result': {
      const name = names.get(block.tool_use_id);
      return { functionResponse: { name, response: { output: textOf(block.content) } } };
    }
    case 'text':
      return { text: block.text };
  }
};

const geminiToMessagesStream = (): StreamConversion => {
  let started = false;
  let index = -1;
  let inText = false;
  let called = false;
  let stopReason = 'end_turn';
  let usage: object = { output_tokens: 0 };
  const close = (): string => {
    if (!inText) return '';
    inText = false;
    return namedEvent('content_block_stop', { index });
  };
  return {
    record(data) {
      const reply = parseAs<GeminiReply>(data);
      let out = '';
      if (!started) {
        started = true;
        out += namedEvent('message_start', {
          message: {
            id: `msg_${reply.responseId}`,
            type: 'message',
            role: 'assistant',
            model: reply.modelVersion,
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: 0, output_tokens: 0 },
          },
        });
      }
      if (reply.usageMetadata) usage = usageOf(reply.usageMetadata);
      const candidate = reply.candidates[0];
      for (const part of candidate?.content?.parts ?? []) {
        if (part.functionCall) {
          out += close();
          called = true;
          index += 1;
          const { name, args } = part.functionCall;
          const block = { type: 'tool_use', id: `toolu_${index}`, name, input: {} };
          const delta = { type: 'input_json_delta', partial_json: JSON.stringify(args ?? {}) };
          out += namedEvent('content_block_start', { index, content_block: block });
          out += namedEvent('content_block_delta', { index, delta });
          out += namedEvent('content_block_stop', { index });
        } else if (part.text) {
          if (!inText) {
            inText = true;
            index += 1;
            out += namedEvent('content_block_start', { index, content_block: { type: 'text', text: '' } });
          }
          out += namedEvent('content_block_delta', { index, delta: { type: 'text_delta', text: part.text } });
        }
      }
      if (candidate?.finishReason === 'MAX_TOKENS') stopReason = 'max_tokens';
      return out;
    },
    end: () =>
      close() +
      namedEvent('message_delta', {
        delta: { stop_reason: called ? 'tool_use' : stopReason, stop_sequence: null },
        usage,
      }) +
      namedEvent('message_stop'),
  };
};
