import type { Fetched, FetchOptions, Spent, StageClient, StageMemory, StageTarget } from '../config/custom/around.ts';
import type { OpenStage, OpenTransformer } from '../config/custom/transformer.ts';
import type { Batch, FinishReason, ModelEvent } from '../model/event.ts';
import type { Fault } from '../model/fault.ts';
import type { Json, JsonObject } from '../model/json/json.ts';
import type { Loss } from '../model/loss.ts';
import type { ModelRequest } from '../model/request.ts';

/*
 * What `junctor/testing` exports, without what it runs on: a user's compiler reads this. Changes break users' tests; additions don't.
 */

/** A model's answer: its text, its events, or these in the batches in which they arrive. */
export type GivenAnswer = string | readonly ModelEvent[] | readonly Batch[];

/** Answers each call. A call fails with what it throws: `fail('upstream-overloaded', '…')`. */
export type AnswerFunction = (request: ModelRequest) => GivenAnswer | Promise<GivenAnswer>;

/** Answers each call of a service. Default: status 200, without headers and text. */
export type FetchFunction = (
  url: string,
  options: Required<Pick<FetchOptions, 'method' | 'headers' | 'body'>>,
) => Partial<Fetched> | Promise<Partial<Fetched>>;

/** The subject of a test, and stand-ins for the gateway around it. */
export interface StageTest {
  /** A module's default export; or the module's file, which is then loaded as the gateway does it. */
  readonly stage: OpenTransformer | OpenStage | ((options: never) => unknown) | string | URL;
  readonly options?: object;
  /** A text of the user's, or a whole request. Default: that of the capture, else `Hello!`. */
  readonly request?: string | ModelRequest;
  /** The model's answer. Default: as in the capture, else `Hello there!`, a word at a time. */
  readonly answer?: GivenAnswer | AnswerFunction;
  /** A file of `junctor captures export`, or what it holds: its request and its answer. */
  readonly capture?: string | URL | object;
  /** The answers of what the stage may ask, and call by `next` with `to`: by `provider,model`. It has leave for these alone. */
  readonly ask?: Readonly<Record<string, GivenAnswer | AnswerFunction>>;
  /** The answers of the services that it fetches from. Absent: there are none. */
  readonly fetch?: FetchFunction;
  /** Its memory: values by their keys, or the memory of an earlier test. */
  readonly memory?: Readonly<Record<string, Json>> | StageMemory;
  /** The client's usage. */
  readonly spent?: Spent;
  readonly client?: Partial<Omit<StageClient, 'header'>> & { readonly headers?: Readonly<Record<string, string>> };
  readonly target?: Partial<Omit<StageTarget, 'attempt'>>;
  /** The client goes when it is aborted. */
  readonly signal?: AbortSignal;
  /** How long the stage may take wherever the gateway waits for it, in milliseconds. Default: 5,000. */
  readonly limitMs?: number;
}

/** A request or an answer, before and after the stage. */
export interface Halves<T> {
  readonly before: T;
  readonly after: T;
}

/** A call that the stage made, with what it sent and what it got. */
export interface TriedCall {
  readonly kind: 'next' | 'ask';
  /** Absent: the request's own destination. */
  readonly to?: string | undefined;
  readonly request: ModelRequest;
  readonly events: readonly Batch[];
}

/** The HTTP request to the provider. */
export interface SentCall {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** The result of a stage for one request. */
export interface Tried {
  /** The stage's name. */
  readonly stage: string;
  /** `after`: as the provider gets it; absent if it gets none. */
  readonly request: { readonly before: ModelRequest; readonly after?: ModelRequest | undefined };
  /** Present if the stage has a call half. */
  readonly call?: Halves<SentCall> | undefined;
  /** The answer of the provider, and that of the stage. */
  readonly events: Halves<readonly Batch[]>;
  /** All calls, in order. */
  readonly calls: readonly TriedCall[];
  /** All text of the stage's answer, without thinking. */
  readonly text: string;
  readonly finish?: FinishReason | undefined;
  /** The error that the client gets. */
  readonly fault?: Fault | undefined;
  readonly losses: readonly Loss[];
  readonly log: readonly { readonly text: string; readonly fields: JsonObject }[];
  readonly memory: StageMemory;
}

/**
 * Runs a stage on a request and an answer that aren't to be changed in place. Rejects with an `AssertionError` if the stage throws, takes
 * too long, or gives what isn't a request or an answer in order. An error that it means by `fail` is the result's `fault`.
 */
export declare const testStage: (test: StageTest) => Promise<Tried>;

/**
 * Cuts the model's answer everywhere: each text at every character, and batches at every event. Rejects with an `AssertionError` that names
 * the first cut which changes what the client gets. Resolves with the number of cuts; a long answer is cut at 2,000 places.
 */
export declare const everyCut: (test: StageTest) => Promise<number>;

/**
 * Lets the client go at every point of the answer, and waits for its end once. Rejects with an `AssertionError` that names the first point
 * at which the stage leaves a timer, a connection or a call behind. Resolves with the number of points; a long answer is left at 500.
 */
export declare const everyLeave: (test: StageTest) => Promise<number>;
