import type { ReplyContext } from '../../engine/model/context.ts';
import type { ModelEvent } from '../../engine/model/event.ts';
import { isJsonObject, type JsonObject } from '../../engine/model/json/json.ts';
import { Losses } from '../../engine/model/loss.ts';
import { runWhole } from '../../engine/model/machine.ts';
import type { ClientProtocol, UpstreamProtocol } from '../../engine/model/protocol.ts';
import { foldReply, isFault } from '../../engine/model/reply.ts';
import type { ModelRequest } from '../../engine/model/request.ts';
import { sseText } from '../../engine/model/wire/sse.ts';
import { ToolNames } from '../../engine/model/wire/tool-names.ts';
import { chatClient } from '../../protocols/chat/index.ts';
import { messagesClient } from '../../protocols/messages/index.ts';
import { responsesClient } from '../../protocols/responses/index.ts';
import { formats } from '../../transformers/index.ts';
import { plainRequest, replyContext } from '../support/context.ts';
import { checkEvents, eventsOf } from '../support/events.ts';
import type { Facts } from '../support/facts.ts';
import { readChatReply, readChatStream } from '../support/readers/chat.ts';
import { readMessagesReply, readMessagesStream } from '../support/readers/messages.ts';
import { readResponsesReply, readResponsesStream } from '../support/readers/responses.ts';

/** A client protocol, and strict readers of what it gets. */
interface Client {
  readonly protocol: ClientProtocol;
  readonly readStream: (text: string) => Facts;
  readonly readReply: (body: unknown) => Facts;
  readonly path: string;
}

export type ClientName = 'messages' | 'chat' | 'responses';

export const clientNames: readonly ClientName[] = ['messages', 'chat', 'responses'];

export const clients: Readonly<Record<ClientName, Client>> = {
  messages: {
    protocol: messagesClient,
    readStream: readMessagesStream,
    readReply: readMessagesReply,
    path: '/v1/messages',
  },
  chat: { protocol: chatClient, readStream: readChatStream, readReply: readChatReply, path: '/v1/chat/completions' },
  responses: {
    protocol: responsesClient,
    readStream: readResponsesStream,
    readReply: readResponsesReply,
    path: '/v1/responses',
  },
};

/** A vendor's row as it speaks at this address; `responses` is the other protocol of `openai`. */
export const vendor = (name: string, baseUrl = addressOf(name)): UpstreamProtocol => {
  const row = formats.get(name === 'responses' ? 'openai' : name);
  if (!row) throw new Error(`no format ${name}`);
  const options =
    name === 'responses' ? { api: 'responses', fullResponses: true } : name === 'openai' ? { api: 'chat' } : {};
  return row.protocol({ baseUrl: new URL(baseUrl), options, model: 'm', relays: undefined });
};

/** Anthropic's own address, where its rules hold for any model; the others' rules depend on the row alone. */
const addressOf = (name: string): string => (name === 'anthropic' ? 'https://api.anthropic.com' : 'http://localhost');

/** One SSE record; what isn't text is written as JSON, an `event:` line where the data has a `type`. */
export const sse = (data: string | JsonObject): string => {
  if (typeof data === 'string') return `data: ${data}\n\n`;
  return `${typeof data.type === 'string' ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
};

/** What a client hears of a streamed answer. */
interface Heard {
  readonly events: readonly ModelEvent[];
  /** The stream as the client gets it. */
  readonly text: string;
  /** What a strict reader learns from it. */
  readonly facts: Facts;
}

/** A streamed answer of a vendor, as a client hears it. Throws when the order of events or the client's grammar is broken. */
export const hear = (
  upstream: string,
  client: ClientName,
  records: readonly (string | JsonObject)[],
  request: Partial<ModelRequest> = {},
): Heard => {
  const context = contextOf(request);
  const bytes = new TextEncoder().encode(records.map(sse).join(''));
  const events = eventsOf(vendor(upstream).decodeStream, [bytes], context);
  checkEvents(events);
  const text = sseText(runWhole(clients[client].protocol.encodeStream, context, events));
  return { events, text, facts: clients[client].readStream(text) };
};

/** A whole answer of a vendor, as a client gets it. */
export const hearWhole = (upstream: string, client: ClientName, body: JsonObject): Facts & { body: JsonObject } => {
  const context = contextOf({ stream: false });
  const events = vendor(upstream).decodeReply(body, context);
  checkEvents(events);
  const reply = foldReply(events);
  const { protocol, readReply } = clients[client];
  const got = isFault(reply) ? protocol.encodeFault(reply, 'req').body : protocol.encodeReply(reply, context);
  return { ...readReply(got), body: got };
};

const contextOf = (request: Partial<ModelRequest>): ReplyContext =>
  replyContext({
    request: { ...plainRequest, streamUsage: true, ...request },
    clientBody: { stream_options: { include_usage: true } },
  });

/** What reaches a vendor of a client's body, and what is said to be lost. */
interface Sent {
  readonly body: JsonObject;
  readonly text: string;
  readonly losses: readonly string[];
}

/** A client's body on its way to a vendor; `model` is what the vendor is asked for. */
export const send = (client: ClientName, upstream: string, body: JsonObject, model = 'model-x', at?: string): Sent => {
  const { decodeRequest, forOtherWires, wire } = clients[client].protocol;
  const losses = new Losses('test');
  const context = { names: new ToolNames(), losses, replyIsRelayed: false, client: wire };
  const decoded = { ...decodeRequest({ model: 'asked', ...required[client], ...body }), model };
  const protocol = vendor(upstream, at);
  const request = (protocol.wire === wire ? undefined : forOtherWires?.(decoded, losses)) ?? decoded;
  const text = JSON.stringify(protocol.encodeRequest(request, context));
  const written: unknown = JSON.parse(text);
  return { body: isJsonObject(written) ? written : {}, text, losses: losses.list.map(({ path }) => path) };
};

const required: Readonly<Record<ClientName, JsonObject>> = {
  messages: { max_tokens: 4_000, messages: [{ role: 'user', content: 'hi' }] },
  chat: { messages: [{ role: 'user', content: 'hi' }] },
  responses: { input: 'hi' },
};

/** A member of a JSON value by its path: `messages`, 0, `content`. */
export const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((inner, step) => {
    if (Array.isArray(inner)) return inner.at(Number(step));
    return isJsonObject(inner) ? inner[step] : undefined;
  }, value);
