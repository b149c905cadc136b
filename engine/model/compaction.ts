import type { FinishReason, ModelEvent } from './event.ts';
import type { Fault } from './fault.ts';
import type { JsonObject } from './json/json.ts';
import type { Losses } from './loss.ts';
import { type Machine, machine } from './machine.ts';
import { packSignature, unpackSignature } from './reasoning/signature.ts';
import type { ModelRequest, Part, TextPart, Tool, Turn, WireFormat } from './request.ts';

/** The `format` of a packed summary, which no wire format has. */
const format = 'summary';

/**
 * Packs a summary into the payload that a client stores and returns. It holds the summary itself, so that any process opens it, at
 * any time and for any provider.
 */
export const packSummary = (summary: string): string => packSignature({ format, data: summary });

/** The summary in a payload; `undefined` for a vendor's own. */
export const openSummary = (payload: unknown): string | undefined => {
  const opened = typeof payload === 'string' ? unpackSignature(payload) : undefined;
  return opened?.format === format ? opened.data : undefined;
};

/** A summary as a model reads it in place of the conversation. */
export const summaryText = (summary: string): string => `Summary of the conversation so far:\n\n${summary}`;

/** The prompt for a summary, unless the configuration or the client has another one. */
export const usualPrompt = `Summarize this conversation for the model that continues it. It will see your summary and perhaps the user's own messages, but nothing else of what stands above.

Cover, in this order:
1. What the user wants: the task, and every instruction, preference and constraint that still holds, in the user's own words where they matter.
2. What has been done and found out: decisions with their reasons, changes, commands, results of tools, errors and how they were solved. Keep exact names, paths, identifiers, numbers, URLs and short pieces of code that will be needed again.
3. Where the work stands now: what is complete, what is open, what doesn't work.
4. The next steps.

Include what an earlier summary says, as far as it still matters. Invent nothing. Don't continue the work, answer no questions and call no tools: write the summary alone.`;

/**
 * The request for a model that summarizes the conversation: the same prompt up to its end, so that a vendor's cache holds it. Tools
 * stay declared for the calls in the conversation, but none may be called. `prompt`: used unless the client has its own.
 */
export const summaryRequest = (request: ModelRequest, prompt: string): ModelRequest => {
  const { compaction, output: _output, stop: _stop, toolChoice: _choice, ...rest } = request;
  const tools = request.tools.filter(isClients);
  const asked: TextPart = { type: 'text', text: compaction?.instructions ?? prompt };
  return {
    ...rest,
    tools,
    ...(tools.length > 0 && { toolChoice: { type: 'none' } }),
    turns: [...request.turns, { role: 'user', parts: [...missingResults(request.turns), asked] }],
  };
};

/** The share of a model's window that the conversation may take: the summary and the model's reasoning need the rest. */
const conversationShare = 0.8;

/** Characters per token; a rule of thumb. */
const charactersPerToken = 4;

/** Characters that are kept of a text's start and of its end. */
const keptCharacters = 500;

/**
 * The request with its tool output shortened, the oldest first, until the conversation is likely to fit into the window: what the
 * model made of such output is in its words. `tokens`: those of the conversation, at least roughly.
 */
export const shortenResults = (request: ModelRequest, tokens: number, window: number, losses: Losses): ModelRequest => {
  let excess = (tokens - window * conversationShare) * charactersPerToken;
  if (excess <= 0) return request;
  const shorten = (part: Part): Part => {
    if (part.type === 'tool-result') return { ...part, content: part.content.map(shorten) };
    const left = part.type === 'text' ? part.text.length - 2 * keptCharacters : 0;
    if (part.type !== 'text' || excess <= 0 || left <= keptCharacters) return part;
    excess -= left;
    losses.approximate(part.at ?? 'tool_result', 'its start and its end');
    const { text, ...others } = part;
    // Half of a surrogate pair becomes a replacement character.
    const [start, end] = [text.slice(0, keptCharacters), text.slice(-keptCharacters)].map((piece) =>
      Buffer.from(piece).toString(),
    );
    return { ...others, text: `${start}\n[${left} characters are left out]\n${end}` };
  };
  return {
    ...request,
    turns: request.turns.map((turn) => ({
      ...turn,
      parts: turn.parts.map((part) => (part.type === 'tool-result' ? shorten(part) : part)),
    })),
  };
};

/** A hosted tool may run although none may be called. */
const isClients = ({ type }: Tool): boolean => type === 'function' || type === 'custom';

/** Results for the calls at the end of a conversation that have none: vendors refuse a call without its result. */
const missingResults = (turns: readonly Turn[]): readonly Part[] => {
  const last = turns.findLastIndex(({ role }) => role === 'assistant');
  const answered = new Set(
    turns.slice(last).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.id] : []))),
  );
  return (turns[last]?.parts ?? []).flatMap((part): readonly Part[] =>
    part.type === 'tool-call' && !answered.has(part.id)
      ? [{ type: 'tool-result', id: part.id, content: [{ type: 'text', text: 'No result so far.' }], at: part.at }]
      : [],
  );
};

/** The form of a summary in a client's wire format. */
export interface SummaryForm {
  readonly wire: WireFormat;
  /** The block before the summary is known. `id`: that of the answer's context. */
  readonly begin: (id: string) => JsonObject;
  /** The delta that completes the block. */
  readonly complete: (summary: string, id: string) => JsonObject;
  readonly finish: FinishReason;
  /** A path of its own for summaries: its end, and the decoder of its bodies. */
  readonly path?: { readonly end: string; readonly decodeRequest: (body: JsonObject) => ModelRequest };
}

interface State {
  readonly id: string;
  readonly text: string[];
  /** The model declines. */
  declined: boolean;
}

/**
 * An answer that is a summary → the block that holds it, alone. What isn't the whole summary becomes an `error`: a client would
 * continue without its past.
 */
export const packAnswer = ({
  wire,
  begin,
  complete,
  finish,
}: Omit<SummaryForm, 'path'>): Machine<ModelEvent, ModelEvent> =>
  machine<State, ModelEvent, ModelEvent>({
    initial: ({ id }) => ({ id, text: [], declined: false }),
    step(state, event, out) {
      const { id, text } = state;
      switch (event.type) {
        case 'message-start':
          out.push(event, { type: 'block-start', index: 0, block: { type: 'opaque', wire, raw: begin(id) } });
          return;
        case 'text-delta':
          text.push(event.text);
          return;
        case 'message-stop': {
          const summary = text.join('').trim();
          const fault = failureOf(state.declined ? 'filtered' : event.finish, summary);
          if (fault) {
            out.push({ type: 'error', fault });
            return;
          }
          out.push(
            { type: 'opaque-delta', index: 0, raw: complete(summary, id) },
            { type: 'block-stop', index: 0 },
            { type: 'message-stop', finish, usage: event.usage },
          );
          return;
        }
        case 'error':
          out.push(event);
          return;
        case 'block-start':
          if (event.block.type === 'refusal') state.declined = true;
          else if (event.block.type === 'text' && text.length > 0) text.push('\n\n');
          return;
        case 'block-stop':
        case 'thinking-delta':
        case 'signature-delta':
        case 'citation-delta':
        case 'input-delta':
        case 'opaque-delta':
          return;
        default:
          event satisfies never;
      }
    },
  });

/** The upstream is in order; another model may do better. */
const noSummary = (message: string): Fault => ({
  kind: 'upstream-garbled',
  message,
  retryOtherUpstream: true,
  countsAgainstHealth: false,
});

/** Why an answer isn't the whole summary; `undefined` if it is. */
const failureOf = (finish: FinishReason, summary: string): Fault | undefined => {
  switch (finish) {
    case 'length':
      return noSummary("The summary exceeds the tokens that the model's answer may have.");
    case 'context-full':
      return { kind: 'upstream-context', message: "The conversation doesn't fit into the model that summarizes it." };
    case 'filtered':
      return noSummary('The model declined to summarize the conversation.');
    case 'end':
    case 'stop-sequence':
    case 'tool-call':
    case 'pause':
    case 'compaction':
      return summary === '' ? noSummary('The model wrote no summary of the conversation.') : undefined;
    default:
      return finish satisfies never;
  }
};
