import { parseAs } from '../parse-as.ts';
import type { Wire } from '../wire.ts';

/** A client's reading of an answer. */
interface Decoded {
  /** All text deltas, joined. */
  readonly text: string;
  /** What is wrong with it besides the text. */
  readonly fault: string | undefined;
}

interface Format {
  /** The text of one record; throws when it isn't JSON. */
  readonly delta: (data: string) => string;
  /** The text of a whole answer; throws when it isn't JSON. */
  readonly whole: (body: string) => string;
  /** Whether a record is the last one of a stream that ended well. */
  readonly isLast: (data: string) => boolean;
}

interface Text {
  readonly text?: string;
}

/** Of each format only what has text; whatever else arrives shows as missing text. */
interface MessagesEvent {
  readonly delta?: { readonly type?: string } & Text;
}
interface ChatAnswer {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly message?: { readonly content?: string | null };
  }[];
}
interface ResponsesEvent {
  readonly type?: string;
  readonly delta?: string;
}
interface ResponsesAnswer {
  readonly output?: readonly { readonly content?: readonly Text[] }[];
}
interface GeminiAnswer {
  readonly candidates?: readonly { readonly content?: { readonly parts?: readonly Text[] } }[];
}

const joined = (parts: readonly Text[] = []): string => parts.map(({ text = '' }) => text).join('');

const gemini = (data: string): string => joined(parseAs<GeminiAnswer>(data).candidates?.[0]?.content?.parts);

/** Written beside the gateway's own code, so that a mistake there isn't made here again. */
const formats: Readonly<Record<Wire, Format>> = {
  messages: {
    delta(data) {
      const { delta } = parseAs<MessagesEvent>(data);
      return delta?.type === 'text_delta' ? (delta.text ?? '') : '';
    },
    whole: (body) => joined(parseAs<{ readonly content?: readonly Text[] }>(body).content),
    isLast: (data) => data.includes('"message_stop"'),
  },
  chat: {
    delta: (data) => parseAs<ChatAnswer>(data).choices?.[0]?.delta?.content ?? '',
    whole: (body) => parseAs<ChatAnswer>(body).choices?.[0]?.message?.content ?? '',
    isLast: (data) => data === '[DONE]',
  },
  responses: {
    delta(data) {
      const { type, delta = '' } = parseAs<ResponsesEvent>(data);
      return type === 'response.output_text.delta' ? delta : '';
    },
    whole: (body) => (parseAs<ResponsesAnswer>(body).output ?? []).map(({ content }) => joined(content)).join(''),
    isLast: (data) => data.includes('"response.completed"'),
  },
  gemini: { delta: gemini, whole: gemini, isLast: (data) => data.includes('"finishReason"') },
};

/** Reads a whole answer. */
export const decodeWhole = (wire: Wire, body: string): Decoded => {
  try {
    return { text: formats[wire].whole(body), fault: undefined };
  } catch {
    return { text: '', fault: `the answer isn’t JSON: ${body.slice(0, 120)}` };
  }
};

/** Reads a streamed answer; tells each record that has text, and the position in bytes after it. */
export const decodeStream = (
  wire: Wire,
  body: Buffer,
  onText: (text: string, endsAt: number) => void = () => {},
): Decoded => {
  const { delta, isLast } = formats[wire];
  const texts: string[] = [];
  let last = '';
  for (let from = 0; from < body.length; ) {
    const end = recordEnd(body, from);
    if (end < 0) return { text: texts.join(''), fault: 'the stream ends amid a record' };
    const data = dataOf(body.toString('utf8', from, end));
    from = end;
    if (data === '') continue;
    last = data;
    if (data === '[DONE]') continue;
    let text: string;
    try {
      text = delta(data);
    } catch {
      return { text: texts.join(''), fault: `a record isn’t JSON: ${data.slice(0, 120)}` };
    }
    if (text === '') continue;
    texts.push(text);
    onText(text, end);
  }
  return {
    text: texts.join(''),
    fault: isLast(last) ? undefined : `the stream’s last record is ${last.slice(0, 120)}`,
  };
};

/** The position after the empty line that ends a record. */
const recordEnd = (body: Buffer, from: number): number => {
  for (let at = body.indexOf(10, from); at >= 0; at = body.indexOf(10, at + 1)) {
    if (body[at + 1] === 10) return at + 2;
    if (body[at + 1] === 13 && body[at + 2] === 10) return at + 3;
  }
  return -1;
};

const dataOf = (record: string): string =>
  record
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart())
    .join('\n');
