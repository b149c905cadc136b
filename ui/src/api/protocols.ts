import type { Wire as Protocol } from '../../../engine/model/schema-parts.ts';

/** A protocol that clients may speak. */
export type { Protocol };

/** All of them. */
export const protocols = ['messages', 'chat', 'responses'] as const satisfies readonly Protocol[];

/** Their usual names. */
export const protocolTitles: Readonly<Record<Protocol, string>> = {
  messages: 'Messages',
  chat: 'Chat Completions',
  responses: 'Responses',
};

/** The same, for where there is little room. */
export const shortProtocolTitles: Readonly<Record<Protocol, string>> = {
  messages: 'Messages',
  chat: 'Chat',
  responses: 'Responses',
};

/** The path of each. */
export const protocolPaths: Readonly<Record<Protocol, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
};
