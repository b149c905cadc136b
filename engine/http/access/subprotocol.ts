import type { HeaderList } from '../endpoint.ts';
import { headerValue } from '../headers.ts';
import { carriesKey } from './access.ts';

/**
 * What precedes a key among the subprotocols that a page offers, after the vendor's name (`openai-insecure-api-key.KEY`): a page can't
 * set headers of a handshake. Source: OpenAI's documentation, "Realtime API with WebSockets", connection from a browser.
 */
const keyMark = '-insecure-api-key.';

/** The subprotocol that the vendor's clients offer beside it, and expect. */
const usual = 'realtime';

const offersIn = (value: string): readonly string[] =>
  value
    .split(',')
    .map((offer) => offer.trim())
    .filter((offer) => offer !== '');

const isKey = (offer: string): boolean => offer.includes(keyMark);

/**
 * The headers of a handshake as a client sends them that can set headers: the key that a page offers as a subprotocol is its bearer token.
 * A request without an `Origin` is not from a page. The key stays in no other header.
 */
export const handshakeHeaders = (headers: HeaderList): HeaderList => {
  const offered = headerValue(headers, 'sec-websocket-protocol');
  if (!offered?.includes(keyMark)) return headers;
  const offers = offersIn(offered);
  const keyOffer = offers.find(isKey) ?? '';
  const key = keyOffer.slice(keyOffer.indexOf(keyMark) + keyMark.length);
  const others = offers.filter((offer) => !isKey(offer)).join(', ');
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name !== 'sec-websocket-protocol') kept.push(name, headers[at + 1] ?? '');
  }
  if (others !== '') kept.push('sec-websocket-protocol', others);
  const isPages = headerValue(headers, 'origin') !== undefined && !carriesKey(headers);
  if (key && isPages) kept.push('authorization', `Bearer ${key}`);
  return kept;
};

/**
 * The subprotocol to answer with; empty: none is offered. A browser ends a connection whose answer names none of those that its page
 * offers. Source: RFC 6455, section 4.2.2; WebSockets standard, "establish a WebSocket connection".
 */
export const answeredSubprotocol = (offered: string | undefined): string => {
  const offers = offersIn(offered ?? '');
  return offers.find((offer) => offer === usual) ?? offers.find((offer) => !isKey(offer)) ?? offers[0] ?? '';
};
