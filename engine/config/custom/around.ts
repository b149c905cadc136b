import type { Observable } from 'rxjs';
import type { ReplyContext } from '../../model/context.ts';
import type { Batch, Usage } from '../../model/event.ts';
import type { Json } from '../../model/json/json.ts';
import type { Losses } from '../../model/loss.ts';
import type { ModelFacts } from '../../model/models/model-facts.ts';
import type { ModelRequest } from '../../model/request.ts';
import type { ClientWire } from '../../model/wire/client-wires.ts';

/**
 * The events of an answer, one batch per chunk. Cold: subscribing makes the call, unsubscribing ends it. Fails with a `FaultError` if the
 * call fails, or if the answer breaks off.
 */
export type Answer = Observable<Batch>;

/** Where a stage's call goes instead of the request's own destination: `provider,model`, which the stage's entry must name in `ask`. */
export interface NextOptions {
  readonly to?: string;
}

/** The rest of the pipeline, down to the provider. Each subscription of its answer is one call. */
export type Next = (request: ModelRequest, options?: NextOptions) => Answer;

/**
 * Gives the answer to a request: its own without calling `next`, that of one call, or one made of several. After its first event has
 * gone downstream, later ones may only continue it in order.
 */
export type Around<Options = unknown> = (
  request: ModelRequest,
  next: Next,
  context: StageContext,
  options: Options,
) => Answer | Promise<Answer>;

/** Who asks, and what is known of the request. One object for all halves of a stage, in one attempt. */
export interface StageContext {
  /** The request's id, as in logs and in the answer's `x-request-id`. */
  readonly id: string;
  readonly client: StageClient;
  /** The request as the client sent it. Frozen. */
  readonly original: ModelRequest;
  readonly target: StageTarget;
  /** Aborted when the request is over: answered, failed, or left by its client. */
  readonly signal: AbortSignal;
  /** Milliseconds that the stage may take: the entry's `timeoutMs`, or `TIMEOUTS.stageMs`. */
  readonly limitMs: number;
  readonly losses: Losses;
  /** Adds a step to the request's path, and a line to `app.log`. */
  readonly log: (text: string, fields?: Readonly<Record<string, Json>>) => void;
  /** What this client has used; without a key of its own, this session, as far as this process has served it. */
  readonly spent: () => Spent;
  readonly memory: StageMemory;
  /** The destinations that the stage's entry names in `ask`, in its order. */
  readonly asks: readonly string[];
  /**
   * Asks another model, which the stage's entry must name in `ask`. The call is made when the result is awaited, or its `events` are
   * subscribed to.
   */
  readonly ask: (to: string, request: ModelRequest | string, options?: AskOptions) => Asked;
  /**
   * Asks another model, chat or decision model, a question about a text that has one of a few answers. As `ask`; it also rejects if the
   * model gives none of the answers.
   */
  readonly decide: (to: string, question: DecideOptions) => Promise<Decision>;
  /**
   * Calls a service that isn't a model, by `http` or `https`: over the gateway's connections, with its proxy and its time limits, and without
   * following redirects. Ends with the request. Rejects with a `FaultError` if no whole answer comes; an answer of any status is one.
   */
  readonly fetch: (url: string, options?: FetchOptions) => Promise<Fetched>;
}

/** The client of a request. */
export interface StageClient {
  readonly wire: ClientWire;
  /** As sent, without the preset. */
  readonly path: string;
  /** The preset that the path names. */
  readonly preset?: string | undefined;
  /** The name of the client whose own key the request carries. */
  readonly key?: string | undefined;
  /** The conversation; `undefined`: unknown. */
  readonly session?: string | undefined;
  /** A header by lower-case name; credentials are left out. */
  readonly header: (name: string) => string | undefined;
}

/** A model of a provider, and what is known of it. */
export interface StageDestination {
  readonly provider: string;
  /** The provider's name of the model. */
  readonly model: string;
  /** The format by which the provider is called: `openai`, `gemini` … */
  readonly format: string;
  /** Whether the provider is the format's vendor, not only a server like it. */
  readonly isVendor: boolean;
  /** Whether it is the vendor of the client's own protocol, who gets what clients send for that vendor alone. */
  readonly isClientsVendor: boolean;
  /** Whether a web search that a client has is passed on, since the format's vendor has one. */
  readonly webSearch: boolean;
  /** What the model is known to read; absent: unknown. */
  readonly input?: ModelFacts['input'];
  /** Tokens that a prompt may have; absent: unknown. */
  readonly window?: number | undefined;
}

/** Where a request goes. */
export interface StageTarget extends StageDestination {
  /** The number of this attempt at the request, from 1. */
  readonly attempt: number;
}

export interface Spent {
  readonly usage: Usage;
  /** Absent: no price is known. */
  readonly costUsd?: number | undefined;
}

/**
 * What a stage remembers between requests, as JSON. Shared by all requests and processes, over changes of the configuration; bounded. Each
 * value is forgotten after its time in milliseconds.
 */
export interface StageMemory {
  /** `undefined`: never set, or forgotten. */
  readonly get: (key: string) => Promise<Json | undefined>;
  /** Throws if the value is too large, or the memory is full. */
  readonly set: (key: string, value: Json, options: { readonly ms: number }) => void;
  /** Adds a whole number to a counter, which begins at 0 every `ms` milliseconds. Resolves with the sum. */
  readonly add: (key: string, by: number, options: { readonly ms: number }) => Promise<number>;
}

/** How a question is asked. */
export interface AskOptions {
  /** Results are kept by this key: the same question isn't asked again. Absent: nothing is kept. */
  readonly key?: string;
  /** How long a result is kept, in milliseconds. Default: 10 minutes. */
  readonly keepMs?: number;
  /** The longest time until the whole answer, in milliseconds. Default: the entry's `timeoutMs`, or `TIMEOUTS.stageMs`. */
  readonly limitMs?: number;
}

/** A question about a text, and how it is asked. */
export interface DecideOptions extends AskOptions {
  readonly question: string;
  /** Two to 20, each of at most 64 characters. Default: `yes` and `no`. */
  readonly answers?: readonly string[];
  /** The text that it is about. To the model it is data, whatever it says. */
  readonly about: string;
}

/** What a model decides. */
export interface Decision {
  /** One of the question's answers. */
  readonly answer: string;
  /** How likely this answer is, from 0 to 1; absent: the provider says nothing of it. */
  readonly probability?: number | undefined;
  /** The same for all answers that it says something of. */
  readonly probabilities?: Readonly<Record<string, number>> | undefined;
  readonly usage: Usage;
  /** The destination that answered: `provider,model`. */
  readonly route: string;
}

/** How a service is called. */
export interface FetchOptions {
  /** Default: `POST` with a body, else `GET`. */
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The longest time until the whole answer, in milliseconds. Default: the entry's `timeoutMs`, or `TIMEOUTS.stageMs`. */
  readonly limitMs?: number;
  /** The most bytes of the answer, decompressed. Default: 1 MiB. */
  readonly maxBytes?: number;
}

/** A service's answer. */
export interface Fetched {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A question that is asked once it is awaited, or each time its events are subscribed to. */
export interface Asked extends Promise<WholeAnswer> {
  /** The answer as it arrives. */
  readonly events: Answer;
}

/** A whole answer. */
export interface WholeAnswer {
  /** All of its text, without thinking. */
  readonly text: string;
  /** The JSON value in the text, also between other words or in a code block. Throws if there is none. */
  readonly json: () => unknown;
  readonly events: Batch;
  readonly usage: Usage;
  /** The destination that answered: `provider,model`; of an answer that a stage has made up, the model that it names. */
  readonly route: string;
}

/** The context of a machine that belongs to a custom stage. */
export interface StageReplyContext extends ReplyContext {
  readonly stage: StageContext;
}
