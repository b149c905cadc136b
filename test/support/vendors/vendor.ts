import type { IncomingHttpHeaders } from 'node:http';
import type { Asked, Scripted } from './script.ts';

/** A simulated vendor: rejects what the original rejects, and answers according to the user's text. */
export interface Vendor<Body> {
  /** The paths that it serves, with their queries. */
  readonly paths: RegExp;
  /** The header that brings the key, as a client of the original writes it. */
  readonly key: (headers: IncomingHttpHeaders) => string | undefined;
  /** What the user asks for. */
  readonly understand: (body: Body) => Asked;
  /** What the original would refuse in this request; nothing when it would take it. */
  readonly complaint: (body: Body, url: string) => string | undefined;
  /** As `complaint`, and asked before it: the whole error, where the original's own words and shape are known. */
  readonly refusal?: (body: Body, headers: IncomingHttpHeaders) => VendorFailure | undefined;
  /** The original's error of this status. */
  readonly failure: (status: number, message: string) => VendorFailure;
  /** The answer in its wire format; by default what the user's words ask for. */
  readonly answer: (body: Body, url: string, script?: (asked: Asked) => Scripted) => VendorAnswer;
  /** Its streams' framing, in place of SSE. */
  readonly framing?: { readonly type: string; readonly bytes: (stream: string) => Uint8Array };
  /** What it wants back unchanged in a conversation that it reasoned and called tools in. */
  readonly payload: string;
}

export interface VendorFailure {
  /** Where the original uses another one than is asked for; of a refusal: default 400. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export type VendorAnswer =
  | { readonly type: 'json'; readonly text: string }
  | { readonly type: 'stream'; readonly pieces: readonly string[] };
