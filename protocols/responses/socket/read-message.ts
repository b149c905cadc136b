import type { Fault } from '../../../engine/model/fault.ts';
import {
  isJsonObject,
  isJsonSpace,
  type Json,
  openBracket,
  parseJson,
  quote,
} from '../../../engine/model/json/json.ts';
import { type JsonMember, memberBytes, memberNamed, membersIn } from '../../../engine/model/json/members.ts';
import type { Headers } from '../../../engine/model/protocol.ts';
import type { RequestMessage, SocketMessage } from '../../../engine/model/wire/socket-protocol.ts';

/** Messages that want no reply. Source: Codex, `responses_websocket.rs`. */
const silent: ReadonlySet<string> = new Set(['response.processed']);

/** Messages that would change an answer while it is given. Source: OpenAI guide, "WebSocket mode". */
const steering: ReadonlySet<string> = new Set(['response.append', 'response.inject', 'response.steer']);

/**
 * Reads a client's message. A request's texts aren't parsed: its body is cut out of the message's bytes, and the pipeline judges it as
 * one that came over HTTP. Source: OpenAI guide, "WebSocket mode", and the SDK's type of client events.
 */
export const readSocketMessage = (message: Buffer): SocketMessage => {
  const members = membersIn(message);
  if (!members) return refused('The message is not a JSON object, or has more than 10,000 members.');
  const value = (name: string): Json | undefined => {
    const member = memberNamed(members, name);
    return member && parseJson(memberBytes(message, member).toString());
  };
  const stream = value('stream_id') ?? '';
  if (stream !== '' && (typeof stream !== 'string' || !streamForm.test(stream)))
    return refused(badStream, 'stream_id', streamCode);
  const type = value('type');
  if (typeof type !== 'string') return refused('type is required.', 'type', null, stream);
  if (silent.has(type)) return { type: 'none' };
  if (type === 'response.create') return new CreateMessage(message, members, stream, value);
  const why = steering.has(type) ? "an answer can't be changed while it is given" : 'it is not known';
  return refused(`type '${type.slice(0, 100)}' is not served: ${why}. Send response.create.`, 'type', null, stream);
};

const streamForm = /^[\w.-]{1,256}$/;
const streamCode = 'invalid_stream_id';
const badStream = 'stream_id must have 1 to 256 letters, digits, or characters of "_.-".';

const refused = (message: string, param?: string, code?: string | null, stream = ''): SocketMessage => {
  const fault: Fault = { kind: 'invalid-request', message, param, ...(code && { code }) };
  return { type: 'refused', fault, stream };
};

/** Members that only WebSocket messages have. The gateway streams every answer, as it is asked to by `stream` over HTTP. */
const ownMembers: ReadonlySet<string> = new Set(['type', 'stream_id', 'generate', 'stream']);

/** A `response.create`. */
class CreateMessage implements RequestMessage {
  readonly type = 'ask';
  readonly stream: string;
  readonly isWarmUp: boolean;
  readonly continues: string | undefined;
  readonly mayBeStored: boolean;
  readonly isStored: boolean;
  readonly headers: Headers;
  readonly #message: Buffer;
  readonly #members: readonly JsonMember[];

  constructor(
    message: Buffer,
    members: readonly JsonMember[],
    stream: string,
    value: (name: string) => Json | undefined,
  ) {
    const previous = value('previous_response_id');
    this.stream = stream;
    this.isWarmUp = value('generate') === false;
    this.continues = typeof previous === 'string' ? previous : undefined;
    this.mayBeStored = value('store') !== false;
    this.isStored = (value('conversation') ?? null) !== null;
    this.headers = headersIn(value('client_metadata'));
    this.#message = message;
    this.#members = members;
  }

  items(): Buffer {
    const items = this.#items();
    // It asks for a summary, and isn't part of the conversation.
    return items.includes('"compaction_trigger"') ? withoutTriggers(items) : Buffer.from(items);
  }

  body(before?: readonly Buffer[]): Buffer {
    const pieces: Buffer[] = [opening];
    for (const { name, at, to } of this.#members) {
      if (ownMembers.has(name)) continue;
      if (before && (name === 'input' || name === 'previous_response_id')) continue;
      pieces.push(separator, this.#message.subarray(at, to));
    }
    if (before) {
      pieces.push(inputOpening);
      let isFirst = true;
      for (const items of [...before, this.#items()]) {
        if (items.length === 0) continue;
        if (!isFirst) pieces.push(separator);
        pieces.push(items);
        isFirst = false;
      }
      pieces.push(inputEnd);
    }
    pieces.push(end);
    return Buffer.concat(pieces);
  }

  /** The items of its `input`; a text is one message. */
  #items(): Buffer {
    const input = memberNamed(this.#members, 'input');
    if (!input) return nothing;
    const value = memberBytes(this.#message, input);
    const inner = value.subarray(1, -1);
    if (value[0] === openBracket) return inner.every(isJsonSpace) ? nothing : inner;
    return value[0] === quote ? Buffer.concat([userMessage, value, end]) : nothing;
  }
}

const nothing = Buffer.alloc(0);
const opening = Buffer.from('{"stream":true');
const separator = Buffer.from(',');
const inputOpening = Buffer.from(',"input":[');
const inputEnd = Buffer.from(']');
const end = Buffer.from('}');
const userMessage = Buffer.from('{"role":"user","content":');

const withoutTriggers = (items: Buffer): Buffer => {
  const list = parseJson(`[${items.toString()}]`);
  if (!Array.isArray(list)) return nothing;
  const kept: readonly Json[] = list.filter((item) => !isJsonObject(item) || item.type !== 'compaction_trigger');
  return Buffer.from(JSON.stringify(kept).slice(1, -1));
};

/** Members of `client_metadata` with a request's own trace. Source: Codex, `client.rs`. */
const traceMembers = {
  ws_request_header_traceparent: 'traceparent',
  ws_request_header_tracestate: 'tracestate',
} as const;

const headersIn = (metadata: Json | undefined): Headers => {
  if (!isJsonObject(metadata)) return none;
  const found = Object.entries(traceMembers).flatMap(([member, header]) => {
    const value = metadata[member];
    return typeof value === 'string' ? [[header, value] as const] : [];
  });
  return found.length === 0 ? none : Object.fromEntries(found);
};

const none: Headers = {};
