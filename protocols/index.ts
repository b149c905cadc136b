import type { ClientProtocol } from '../engine/model/protocol.ts';
import { chatClient } from './chat/index.ts';
import { messagesClient } from './messages/index.ts';
import { responsesClient } from './responses/index.ts';

/** The client protocols and the paths that they are served at. */
export const clientProtocols: readonly { readonly protocol: ClientProtocol; readonly paths: readonly string[] }[] = [
  { protocol: messagesClient, paths: ['/v1/messages'] },
  { protocol: chatClient, paths: ['/v1/chat/completions', '/chat/completions'] },
  { protocol: responsesClient, paths: ['/v1/responses', '/responses'] },
];
