import type { Flow } from '../flow.ts';

/** A client's request, whole: its body has arrived and is decompressed. */
export interface Incoming {
  /** Taken over from the client's `x-request-id`, or made; goes out with the answer. */
  readonly id: string;
  /** As sent: `GET`, `POST` … */
  readonly method: string;
  /** As sent, still percent-encoded, without the query. */
  readonly path: string;
  /** As sent, without the question mark; empty when there is none. */
  readonly query: string;
  /** By lower-case name; values of a repeated header are joined by `, `. */
  readonly headers: Headers;
  /** IPv4 (also when it came mapped into IPv6) or IPv6 address in text form. */
  readonly remoteAddress: string;
  /** Decompressed; empty when there is none. */
  readonly body: Uint8Array;
  /** Holds back the upstream while this client is slow. */
  readonly flow: Flow;
  /** When the request's head came, in milliseconds since 1970. */
  readonly startedAtMs: number;
}

/** Request headers by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

/** Request headers as they came, repeated ones included; names in lower case. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[];
