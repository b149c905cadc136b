import type { ExecutionContext } from 'ava';
import { request } from 'undici';
import { openSocket } from './faults/socket-client.ts';

/** The ways by which a client asks: each protocol, streamed and whole, and over a WebSocket. */
export const ways = [
  'messages streamed',
  'messages whole',
  'chat streamed',
  'chat whole',
  'responses streamed',
  'responses whole',
  'responses socket',
] as const;
type Way = (typeof ways)[number];

/** What a client asks: the model, the user's text, and further members of the body, in all protocols' names. */
interface Asked {
  readonly model: string;
  readonly text?: string;
  readonly more?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

/** What the client has got. */
interface Got {
  /** 200 for an answer over a WebSocket that has begun. */
  readonly status: number;
  /** All that came, as text; quotes in texts without their backslashes. */
  readonly raw: string;
  /** The answer's text. */
  readonly said: string;
  /** The answer has the end of a whole one. */
  readonly isWhole: boolean;
  readonly losses: string;
}

type Value = ReturnType<typeof Object>;

const wires = {
  messages: {
    path: '/v1/messages',
    body: (text: string) => ({ max_tokens: 99, messages: [{ role: 'user', content: text }] }),
    whole: (body: Value) => body.content?.[0]?.text,
    delta: (data: Value) => data.delta?.text,
    end: /event: message_stop\n/,
  },
  chat: {
    path: '/v1/chat/completions',
    body: (text: string) => ({ messages: [{ role: 'user', content: text }] }),
    whole: (body: Value) => body.choices?.[0]?.message?.content,
    delta: (data: Value) => data.choices?.[0]?.delta?.content,
    end: /data: \[DONE\]\n\n$/,
  },
  responses: {
    path: '/v1/responses',
    body: (text: string) => ({ input: text }),
    whole: (body: Value) => body.output?.[0]?.content?.[0]?.text,
    delta: (data: Value) => (data.type === 'response.output_text.delta' ? data.delta : undefined),
    end: /event: response\.completed\n/,
  },
} as const;

const wireOf = (way: Way) => {
  if (way.startsWith('messages')) return wires.messages;
  return way.startsWith('chat') ? wires.chat : wires.responses;
};

/** Asks a gateway, and reads the whole answer. */
export const askBy = async (
  t: Pick<ExecutionContext, 'teardown'>,
  baseUrl: string,
  way: Way,
  { model, text = 'hi', more = {}, headers = {}, path }: Asked,
): Promise<Got> => {
  const wire = wireOf(way);
  const url = `${baseUrl}${path ?? wire.path}`;
  const body = { model, ...wire.body(text), ...more };
  if (way === 'responses socket') {
    const { send, answer, socket } = await openSocket(t, url, headers);
    send({ type: 'response.create', ...body });
    const frames: readonly Value[] = await answer();
    socket.terminate();
    const last = frames.at(-1);
    return {
      status: last.type === 'error' ? Number(last.status) : 200,
      raw: unquoted(JSON.stringify(frames)),
      said: frames.map((frame) => wire.delta(frame) ?? '').join(''),
      isWhole: last.type === 'response.completed',
      losses: '',
    };
  }
  const stream = way.endsWith('streamed');
  const answered = await request(url, { method: 'POST', headers, body: JSON.stringify({ ...body, stream }) });
  const raw = await answered.body.text();
  const { statusCode: status } = answered;
  const losses = String(answered.headers['x-junctor-loss'] ?? '');
  if (status !== 200 || !stream) {
    const said = status === 200 ? String(wire.whole(JSON.parse(raw)) ?? '') : '';
    return { status, raw: unquoted(raw), said, isWhole: status === 200, losses };
  }
  const records: readonly Value[] = [...raw.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  const said = records.map((record) => wire.delta(record) ?? '').join('');
  return { status, raw: unquoted(raw), said, isWhole: wire.end.test(raw), losses };
};

const unquoted = (text: string): string => text.replaceAll('\\"', '"').replaceAll('\\"', '"');
