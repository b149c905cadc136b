import { call, failureIn, send } from './call.ts';
import type { CaptureState } from './capture.ts';
import { isJsonObject, type Json } from './json.ts';
import type { Protocol } from './protocols.ts';

/** Something that a conversion couldn't carry. */
export interface Loss {
  /** What lost it: a protocol, a stage, a format. */
  readonly step: string;
  /** The field's path. */
  readonly field: string;
  readonly action: 'dropped' | 'approximated';
  readonly note?: string;
}

/** Token counts, as far as they are known. */
export interface Usage {
  readonly input?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly output?: number;
  readonly reasoning?: number;
}

/** What went wrong. */
interface Fault {
  readonly kind: string;
  readonly message: string;
}

/** A try that came to nothing. */
interface FailedAttempt {
  readonly provider: string;
  readonly model: string;
  /** The upstream's status, else what went wrong in one word. */
  readonly outcome: string;
}

/** A finished request. */
export interface RequestSummary {
  /** Counts up. */
  readonly n: number;
  /** The `x-request-id`. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly path: string;
  readonly protocol: Protocol;
  readonly preset?: string;
  /** The model that was asked for. */
  readonly asked: string;
  readonly stream: boolean;
  readonly scenario?: string;
  /** Why it went there. */
  readonly reason?: string;
  readonly provider?: string;
  /** The upstream's name of it. */
  readonly model?: string;
  /** 499: the client left. */
  readonly status: number;
  readonly fault?: Fault;
  readonly usage?: Usage;
  readonly firstByteMs?: number;
  readonly durationMs: number;
  /** The gateway's own time. */
  readonly overheadMs?: number;
  readonly losses: readonly Loss[];
  /** How many more there were. */
  readonly lossesOmitted?: number;
  /** What passed untouched. */
  readonly relayed: { readonly request: boolean; readonly reply: boolean };
  /** Before the one that answered, in order. */
  readonly failedAttempts?: readonly FailedAttempt[];
  /** Its way can be looked at. */
  readonly captured: boolean;
}

/** The newest finished requests. */
export interface RequestList {
  readonly capture: CaptureState;
  /** The highest `n`. */
  readonly newest: number;
  /** Newest first. */
  readonly requests: readonly RequestSummary[];
}

/** A piece of a stream and when it came; bytes that are no text come in base 64. */
export interface Chunk {
  readonly atMs: number;
  readonly text?: string;
  readonly base64?: string;
}

/** What a step made of the request. */
interface CapturedStep {
  readonly name: string;
  readonly kind: 'decode' | 'route' | 'stage' | 'encode';
  readonly ms: number;
  /** The typed request; for `encode` the upstream's body; null where it was too large to be kept. */
  readonly request: Json;
  readonly losses: readonly Loss[];
}

/** One request as it went through. Secrets are masked. */
export interface Capture {
  readonly client: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly truncated: boolean;
  };
  readonly steps: readonly CapturedStep[];
  /** Null when no call was made. */
  readonly upstream: {
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly bodyTruncated: boolean;
    /** Null when it didn't answer. */
    readonly status: number | null;
    readonly responseHeaders: Readonly<Record<string, string>>;
    readonly chunks: readonly Chunk[];
    readonly truncated: boolean;
    /** `abandoned`: the client had gone. */
    readonly ended: 'complete' | 'failed' | 'abandoned';
    readonly fault?: Fault;
  } | null;
  /** One entry per batch that left a step. */
  readonly events: readonly { readonly step: string; readonly atMs: number; readonly events: readonly Json[] }[];
  readonly reply: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly chunks: readonly Chunk[];
    readonly truncated: boolean;
  };
  readonly timing: readonly { readonly name: string; readonly atMs: number }[];
  /** Commands for a shell, with secrets as `$VARIABLE`. */
  readonly curl: { readonly client: string; readonly upstream: string | null };
  /** Some step, event, body or stream was too large to be kept whole. */
  readonly truncated: boolean;
}

/** A request, and its capture where there is one. */
export interface CapturedRequest {
  readonly summary: RequestSummary;
  readonly capture: Capture | null;
}

/** How a recorded answer is to be played. */
interface ReplayOptions {
  readonly client: Protocol;
  /** 0: at once; 1: as recorded; 10: ten times faster. */
  readonly speed: number;
  readonly stream: boolean;
}

/** Finished requests with a higher number than `after`. */
export const listRequests = (after?: number, signal?: AbortSignal): Promise<RequestList> =>
  call('/api/requests', { query: { after, limit: 1000 }, signal });

/** One request. Fails with status 404 when nothing is known of it. */
export const readRequest = async (id: string, signal?: AbortSignal): Promise<CapturedRequest> => {
  const response = await send(`/api/requests/${encodeURIComponent(id)}`, { signal });
  const text = await response.text();
  const body = parse(text);
  // One that wasn't captured is told with status 404 too, but with what is known of it.
  if (isJsonObject(body) && isJsonObject(body.summary)) return JSON.parse(text);
  throw failureIn(response.status, text);
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Forgets all finished requests and captures. */
export const clearRequests = (): Promise<{ readonly message: string }> => call('/api/requests', { method: 'DELETE' });

/** Runs the recorded upstream bytes through today's graph: the answer as that client would get it. */
export const replayRequest = (id: string, options: ReplayOptions, signal?: AbortSignal): Promise<Response> =>
  send(`/api/requests/${encodeURIComponent(id)}/replay`, { method: 'POST', body: options, signal });
