import { createParser } from 'eventsource-parser';
import type { Facts } from '../facts.ts';
import { readChatReply, readChatStream } from '../readers/chat.ts';
import { readMessagesReply, readMessagesStream } from '../readers/messages.ts';
import { readResponsesReply, readResponsesStream } from '../readers/responses.ts';
import type { WireName } from './wires.ts';

/** A client protocol, with a strict reader and a lenient reader of its responses. */
export interface FaultClient {
  readonly name: WireName;
  readonly path: string;
  readonly ask: object;
  readonly readStream: (text: string) => Facts;
  readonly readReply: (body: unknown) => Facts;
  /** Counts regular ends and errors of a stream. Accepts any framing, so it reads relayed streams too. */
  readonly tally: (stream: string) => Tally;
}

interface Tally {
  readonly text: string;
  readonly ends: number;
  readonly errors: readonly string[];
  /** Records after the first end, of either kind. */
  readonly after: number;
}

type Told = { readonly text: string } | { readonly error: string } | 'end' | undefined;

const tallyBy =
  (tell: (data: Loose) => Told) =>
  (stream: string): Tally => {
    const errors: string[] = [];
    let text = '';
    let ends = 0;
    let after = 0;
    const parser = createParser({
      onEvent({ data }) {
        if (ends + errors.length > 0) after += 1;
        const told = data === '[DONE]' ? 'end' : tell(parsed(data));
        if (told === 'end') ends += 1;
        else if (told && 'text' in told) text += told.text;
        else if (told) errors.push(told.error);
      },
    });
    // At the end, a CR waits for no LF.
    parser.feed(stream.endsWith('\r') ? `${stream}\n` : stream);
    return { text, ends, errors, after };
  };

interface Loose {
  readonly [name: string]: unknown;
}

const parsed = (data: string): Loose => {
  try {
    return Object(JSON.parse(data));
  } catch {
    return {};
  }
};

const messageOf = (error: unknown): string => String(Object(error).message ?? '');
const say = [{ role: 'user', content: 'x' }];

/** All client protocols. */
export const faultClients: readonly FaultClient[] = [
  {
    name: 'messages',
    path: '/v1/messages',
    ask: { max_tokens: 9, messages: say },
    readStream: readMessagesStream,
    readReply: readMessagesReply,
    tally: tallyBy(({ type, delta, error }) => {
      if (type === 'message_stop') return 'end';
      if (type === 'error') return { error: messageOf(error) };
      return type === 'content_block_delta' ? { text: String(Object(delta).text ?? '') } : undefined;
    }),
  },
  {
    name: 'chat',
    path: '/v1/chat/completions',
    ask: { messages: say },
    readStream: readChatStream,
    readReply: readChatReply,
    tally: tallyBy(({ error, choices }) => {
      if (error) return { error: messageOf(error) };
      return { text: String(Object(Object(Object(choices)[0]).delta).content ?? '') };
    }),
  },
  {
    name: 'responses',
    path: '/v1/responses',
    ask: { input: 'x' },
    readStream: readResponsesStream,
    readReply: readResponsesReply,
    tally: tallyBy(({ type, delta, response }) => {
      if (type === 'response.completed' || type === 'response.incomplete') return 'end';
      if (type === 'response.failed') return { error: messageOf(Object(response).error) };
      // The event `error` announces `response.failed`, which says the same.
      return type === 'response.output_text.delta' ? { text: String(delta) } : undefined;
    }),
  },
];
