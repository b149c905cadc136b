import type { Observable } from 'rxjs';
import type { Fault } from '../model/fault.ts';
import type { WireFault } from '../model/protocol.ts';
import type { ReplyPart } from '../reply-part.ts';
import type { Incoming } from './incoming.ts';

/** How a path words what went wrong. */
export type WordFault = (fault: Fault, requestId: string) => WireFault;

/** What serves a path. */
export interface Endpoint {
  /** Needs no key. */
  readonly open: boolean;
  readonly wordFault: WordFault;
  /**
   * The answer. `params` are the path's variable segments, decoded. Subscribed once; unsubscribed when the client goes. An
   * error before any data was sent is worded by `wordFault`, a later one closes the connection.
   */
  readonly handle: (incoming: Incoming, params: Params) => Observable<ReplyPart>;
}

/** A path's variable segments by name, decoded; the rest of a path that ends in `*` is named `*`. */
export type Params = Readonly<Record<string, string>>;
