/** The protocols that clients may speak. */
export const protocols = ['messages', 'chat', 'responses'] as const;

/** One of them. */
export type Protocol = (typeof protocols)[number];

/** What people call them. */
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

/** Where each one is served. */
export const protocolPaths: Readonly<Record<Protocol, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
};
