import type { Fault } from '../../../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import type { ClientProtocol, UpstreamProtocol } from '../../../engine/model/protocol.ts';
import type { WireFormat } from '../../../engine/model/request.ts';
import type { Format } from '../../../engine/model/transformer.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { chatClient } from '../../../protocols/chat/index.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';
import { responsesClient } from '../../../protocols/responses/index.ts';
import { formats } from '../../../transformers/index.ts';

const clients = { messages: messagesClient, chat: chatClient, responses: responsesClient } as const;
export type ClientName = keyof typeof clients;

/** A provider of a vendor, as a row of a table names it. */
export interface Place {
  readonly baseUrl?: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

export const formatOf = (name: string): Format => {
  const format = formats.get(name);
  if (!format) throw new Error(`no format ${name}`);
  return format;
};

const target = ({ baseUrl = 'http://localhost', options = {} }: Place, model: string, relays?: ClientName) => ({
  baseUrl: new URL(baseUrl),
  options,
  model,
  relays,
});

/** How the vendor's model is spoken to for this client. */
export const upstreamOf = (vendor: string, model: string, client: ClientName, place: Place = {}): UpstreamProtocol =>
  formatOf(vendor).protocol(target(place, model, client));

/** What the vendor gets of a client's body, and what was lost: `-` dropped, `~` approximated. */
export const sent = (
  vendor: string,
  client: ClientName,
  asked: JsonObject,
  place: Place = {},
): { readonly body: JsonObject; readonly losses: readonly string[] } => {
  const protocol: ClientProtocol = clients[client];
  const losses = new Losses('test');
  const request = protocol.decodeRequest(asked);
  const body = upstreamOf(vendor, request.model, client, place).encodeRequest(request, {
    names: new ToolNames(),
    losses,
    replyIsRelayed: false,
    client,
  });
  // As it goes over the wire: without members that are undefined.
  const written: unknown = JSON.parse(JSON.stringify(body));
  return {
    body: isJsonObject(written) ? written : {},
    losses: losses.list.map(({ path, outcome }) => `${outcome === 'dropped' ? '-' : '~'}${path}`),
  };
};

/** The path that the vendor is called at for this body. */
export const pathOf = (vendor: string, asked: JsonObject, place: Place = {}): string => {
  const format = formatOf(vendor);
  const request = chatClient.decodeRequest(asked);
  return format.pathFor?.(target(place, request.model, 'chat'), request) ?? format.path;
};

/** Whether this chat client's body may go out as it came. */
export const isRelayed = (vendor: string, asked: JsonObject, place: Place = {}): boolean =>
  upstreamOf(vendor, String(asked.model), 'chat', place).acceptsRelay?.(chatClient.decodeRequest(asked), asked) ?? true;

export const headersOf = (
  vendor: string,
  clientHeaders: Readonly<Record<string, string>> = {},
  { baseUrl = 'http://localhost', options = {} }: Place = {},
  wire: WireFormat = 'chat',
): Readonly<Record<string, string>> =>
  formatOf(vendor).headers({
    apiKey: 'k',
    baseUrl: new URL(baseUrl),
    options,
    clientHeader: (name) => clientHeaders[name],
    wire,
    request: chatClient.decodeRequest(chat('m')),
  });

export const faultOf = (vendor: string, status: number, body: string): Fault =>
  upstreamOf(vendor, 'm', 'chat').decodeFault(status, {}, body);

/** A chat client's body. */
export const chat = (model: string, more: JsonObject = {}): JsonObject => ({
  model,
  messages: [{ role: 'user', content: 'Hi.' }],
  ...more,
});

/** A Messages client's body. */
export const messages = (model: string, more: JsonObject = {}): JsonObject => ({
  model,
  max_tokens: 4_000,
  messages: [{ role: 'user', content: 'Hi.' }],
  ...more,
});

export const functionTool = (name: string, more: JsonObject = {}): JsonObject => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} }, ...more },
});

/** One call of the assistant, and its result. */
export const loop = (assistant: JsonObject = {}): readonly JsonObject[] => [
  { role: 'user', content: 'Hi.' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    ...assistant,
  },
  { role: 'tool', tool_call_id: 'c', content: 'ok' },
];
