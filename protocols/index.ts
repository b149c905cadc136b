import type { TSchema } from 'typebox';
import type { ClientProtocol } from '../engine/model/protocol.ts';
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

/** Encodes a request for router modules that take Messages. */
export const encodeMessagesBody = messagesUpstream.encodeRequest;

/** The client protocols. */
export const clientProtocols: readonly ServedProtocol[] = [
  { protocol: messagesClient, paths: ['/v1/messages'], schemas: messagesSchemas },
  { protocol: chatClient, paths: ['/v1/chat/completions', '/chat/completions'], schemas: chatSchemas },
  { protocol: responsesClient, paths: ['/v1/responses', '/responses'], schemas: responsesSchemas },
];
