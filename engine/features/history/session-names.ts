import { hash } from 'node:crypto';
import type { ClientProtocol } from '../../model/protocol.ts';
import type { ModelRequest } from '../../model/request.ts';

/** A request whose session is wanted. */
interface SessionQuestion {
  readonly client: Pick<ClientProtocol, 'sessionHeaders' | 'sessionIn'>;
  /** The client whose own key it carries. */
  readonly namedClient: string | undefined;
  /** A header by lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly request: ModelRequest;
}

/** Names the conversation that a request belongs to; `undefined`: nothing tells it. */
export type SessionOf = (question: SessionQuestion) => string | undefined;

/** Other ids are hashed. */
const idForm = /^[\w.:-]{1,100}$/;

/** Hashed length of a conversation's beginning. */
const maxParts = 8;
const maxCharacters = 1_024;

/**
 * Names sessions by the id that the agent sends, else by a hash of the conversation's first user turn, which later requests repeat.
 * The hash has a secret key, so that a text can't be guessed by it.
 */
export const sessionNames = (secret: () => string): SessionOf => {
  const hashed = (text: string): string => hash('sha256', `${secret()}\0${text}`, 'base64url').slice(0, 22);
  return ({ client, namedClient, header, request }) => {
    for (const name of client.sessionHeaders ?? []) {
      const id = header(name);
      if (id) return idForm.test(id) ? id : hashed(id);
    }
    const id = client.sessionIn?.(request);
    if (id) return idForm.test(id) ? id : hashed(id);
    const beginning = beginningOf(request);
    return beginning === '' ? undefined : hashed(`${namedClient ?? ''}\0${request.user ?? ''}\0${beginning}`);
  };
};

/** Of each text, the end: agents begin them with what all conversations have. */
const beginningOf = ({ turns, promptCacheKey = '' }: ModelRequest): string => {
  const first = turns.find(({ role }) => role === 'user');
  let beginning = promptCacheKey;
  let count = 0;
  for (const part of first?.parts ?? []) {
    if (part.type !== 'text') continue;
    beginning += `\0${part.text.slice(-maxCharacters)}`;
    count += 1;
    if (count === maxParts) break;
  }
  return beginning;
};

/** Maximum number of named tools of a request. */
const maxTools = 20;

/** The names of the tools whose results a request brings: those that the assistant called last. */
export const answeredTools = ({ turns }: ModelRequest): readonly string[] => {
  const last = turns.findLastIndex(({ role }) => role === 'assistant');
  if (last < 0) return none;
  let results: Set<string> | undefined;
  for (let at = last + 1; at < turns.length; at += 1) {
    for (const part of turns[at]?.parts ?? [])
      if (part.type === 'tool-result') results = (results ?? new Set()).add(part.id);
  }
  if (!results) return none;
  const names: string[] = [];
  for (let at = last; at >= 0 && turns[at]?.role === 'assistant'; at -= 1) {
    const parts = turns[at]?.parts ?? [];
    const called = parts.flatMap((part) => (part.type === 'tool-call' && results?.has(part.id) ? [part.name] : []));
    names.unshift(...called);
  }
  return names.slice(0, maxTools);
};

const none: readonly string[] = [];

/** Number of the user's turns in a request's conversation: results of tools don't count, and adjacent turns count once. */
export const spokenTurns = ({ turns }: ModelRequest): number => {
  let count = 0;
  let isSpoken = false;
  for (const { role, parts } of turns) {
    if (role === 'assistant') isSpoken = false;
    else if (role === 'user' && !isSpoken && parts.some(({ type }) => type !== 'tool-result')) {
      isSpoken = true;
      count += 1;
    }
  }
  return count;
};
