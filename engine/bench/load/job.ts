import type { AnswerText } from '../corpus.ts';
import type { Wire } from '../wire.ts';

/** Whom the load generator asks. */
export interface Place {
  /** `http://127.0.0.1:41234`. */
  readonly baseUrl: string;
  /** What is spoken there. */
  readonly wire: Wire;
  /** Sent with every request, or handshake. */
  readonly headers: Readonly<Record<string, string>>;
  /** The model that is asked for; absent: `askedModel`. */
  readonly model?: string;
  /** The most tokens that an answer may have; absent: more than any here has. */
  readonly maxTokens?: number;
  /** A recorded request, which is sent in place of those of `bodyBytes`. */
  readonly recorded?: { readonly path: string; readonly body: string };
  /** Requests are messages of WebSocket connections, which are held from one job to the next; absent: over HTTP. */
  readonly webSocket?: boolean;
}

/** How requests follow each other. */
export type Rhythm =
  /**
   * So many clients, each with its next request as soon as it has its answer, until the time is over. At least `least` are sent,
   * unless that takes twenty times as long, as on a very busy machine, and at most `most`.
   */
  | {
      readonly type: 'closed';
      readonly clients: number;
      readonly forMs: number;
      readonly least?: number;
      readonly most?: number;
    }
  /** Requests at fixed times, whether the earlier ones are answered or not. Latency counts from the time that was meant. */
  | { readonly type: 'open'; readonly perSecond: number; readonly forMs: number }
  /** So many requests, their starts spread over a time, each on a connection of its own. */
  | { readonly type: 'burst'; readonly streams: number; readonly overMs: number };

/** One piece of work for the load generator. */
export interface LoadJob {
  readonly place: Place;
  readonly rhythm: Rhythm;
  /** Bytes of a request's body. */
  readonly bodyBytes: number;
  /** Whether a streamed answer is asked for. */
  readonly streamed: boolean;
  /** What every answer must say. */
  readonly text: AnswerText;
  /** Answers need only be whole and well-formed, whatever they say; absent: they must say `text`. */
  readonly check?: 'form';
}

/** Of many times, in milliseconds. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What came of it. */
export interface LoadResult {
  /** Requests that were answered, and rightly. */
  readonly good: number;
  readonly bad: number;
  /** Why, of the first ones. */
  readonly reasons: readonly string[];
  readonly seconds: number;
  /** From the meant start to the answer's end. */
  readonly latency: Spread;
  /** From the meant start to the body's first bytes. */
  readonly firstByte: Spread;
  /** From a delta's sending to its arrival; none where deltas carry no time. */
  readonly delay: Spread | undefined;
  /** From the meant start to the first token's arrival (TTFT); to the answer's first bytes, where it isn't streamed. */
  readonly firstToken: Spread;
  /** Between the arrivals of two tokens of an answer (ITL); none where no answer has two. */
  readonly betweenTokens: Spread | undefined;
  /** Processor time of the load generator itself while it ran; what it checks afterwards isn't in it. */
  readonly cpuMs: number;
}
