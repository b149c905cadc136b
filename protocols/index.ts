import type { TSchema } from 'typebox';
import type { ClientProtocol, UpstreamProtocol } from '../engine/model/protocol.ts';
import { chatClient } from './chat/index.ts';
import { chatSchemas } from './chat/openapi.ts';
import { messagesClient, messagesUpstream } from './messages/index.ts';
import { messagesSchemas } from './messages/openapi.ts';
import { responsesClient } from './responses/index.ts';
import { responsesSchemas } from './responses/openapi.ts';

/** A client protocol, the paths that it is served at, and the schemas that describe it. */
interface ServedProtocol {
  readonly protocol: ClientProtocol;
  readonly paths: readonly string[];
  readonly schemas: { readonly title: string } & Readonly<Record<'request' | 'reply' | 'fault', TSchema>>;
}

/** The form of the requests that router modules of the older form take. */
export const olderRouters: Pick<UpstreamProtocol, 'wire' | 'encodeRequest'> = messagesUpstream;

/** The client protocols. */
export const clientProtocols: readonly ServedProtocol[] = [
  { protocol: messagesClient, paths: [messagesClient.path], schemas: messagesSchemas },
  { protocol: chatClient, paths: [chatClient.path, '/chat/completions'], schemas: chatSchemas },
  { protocol: responsesClient, paths: [responsesClient.path, '/responses'], schemas: responsesSchemas },
];
