import type { Observable } from 'rxjs';
import type { Flow } from './flow.ts';
import type { RequestMeter } from './metrics/request-meter.ts';
import type { Fault } from './model/fault.ts';
import type { JsonObject } from './model/json.ts';
import type { ClientProtocol, Headers, ReplyContext } from './model/protocol.ts';
import type { ModelRequest } from './model/request.ts';
import type { RequestRecord } from './requests/request-record.ts';
import type { FailedAttempt } from './retry/failed-attempt.ts';
import type { Resolution } from './routing/resolve.ts';
import type { Line } from './yard/line.ts';

/** A client's request as it enters the pipeline. Each step's value has what the next step needs. */
export interface Exchange {
  readonly id: string;
  /** Unique and lower-case hexadecimal; ids in the answer are made from it. */
  readonly seed: string;
  readonly startedAtMs: number;
  readonly client: ClientProtocol;
  readonly body: Uint8Array;
  /** A header of the client's request, by lower-case name. */
  readonly clientHeader: (name: string) => string | undefined;
  readonly flow: Flow;
  readonly delivery: Delivery;
  /** Counts and measures this request. */
  readonly meter: RequestMeter;
  /** Follows it for those who look at the service; absent: nobody will. */
  readonly record?: RequestRecord | undefined;
}

/** What has reached the client so far; belongs to one request alone. */
export interface Delivery {
  /** The model asked for, in the client's own words; `undefined` until the body is understood. */
  asked: string | undefined;
  /** The client asked for a stream. */
  streaming: boolean;
  /** The head of a stream is out: its status can't be changed any more. */
  opened: boolean;
  /** Something of the answer itself is out, not just keep-alives. */
  begun: boolean;
  /** The last bytes ended a record, so that text of ours may follow. */
  betweenRecords: boolean;
  /** Known once the request is routed. */
  context: ReplyContext | undefined;
  /** What ended the answer after it had begun. */
  broken: Fault | undefined;
  /** Tries that came to nothing, in order. */
  failed: readonly FailedAttempt[];
}

const none: readonly FailedAttempt[] = [];

export const newDelivery = (): Delivery => ({
  asked: undefined,
  streaming: false,
  opened: false,
  begun: false,
  betweenRecords: true,
  context: undefined,
  broken: undefined,
  failed: none,
});

/** After `decode`: the body is understood. */
export interface Decoded extends Exchange {
  readonly text: string;
  readonly asked: JsonObject;
  readonly request: ModelRequest;
}

/** After `route`: it is known who answers, and through which stages. */
export interface Routed extends Decoded {
  readonly resolution: Resolution;
  readonly line: Line;
  readonly context: ReplyContext;
  readonly relays: Relays;
  /** The provider's key that this try uses. */
  readonly apiKey: string;
  /** Tries at this destination that came before this one. */
  readonly repeats: number;
}

/** Which halves of an exchange go through as they came: both sides speak the same format, and no stage has that half. */
export interface Relays {
  readonly request: boolean;
  readonly reply: boolean;
}

/** After `transformRequest`: the call is ready to be made. */
export interface Ready extends Routed {
  readonly call: {
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

/** After `callUpstream`: the upstream accepted, and its body arrives. */
export interface Answered extends Ready {
  readonly answer: {
    readonly status: number;
    readonly headers: Headers;
    /** Plain bytes, one emission per network chunk. */
    readonly body: Observable<Uint8Array>;
    /** It is a stream of SSE records. */
    readonly streamed: boolean;
  };
}
