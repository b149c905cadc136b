import type { RequestAdmission } from './exchange.ts';
import type { DocumentedRoute } from './http/documented-route.ts';
import type { Metric } from './observe/metric.ts';
import type { TraceCarrier, Watcher } from './observe/observer.ts';
import type { RequestFollower, RequestRecord } from './request-record.ts';
import type { Gateway } from './routing/gateway.ts';

/** Watches one request. Its `callHeaders`, if any, are added to the upstream calls. */
export interface RequestWatcher extends Watcher, Partial<TraceCarrier> {
  /** Present if the request's steps are watched, too: by this watcher, of a gateway that reports them to it. */
  readonly inspection?: { readonly watcher: Watcher; readonly gateway: Gateway } | undefined;
}

/**
 * What a request is admitted for: an answer of a model; a count, which takes no tokens; or a call of a stage, as part of an answer. The
 * operator allows that one's destination.
 */
export interface AdmissionRequest {
  readonly gateway: Gateway;
  /** The client whose own key the request carries. Others are not admitted by features. */
  readonly namedClient: string;
  readonly preset: string | undefined;
  readonly use: 'answer' | 'count' | 'stage';
}

/**
 * Something that the gateway does around serving requests. A request needs none of it: without a feature, its answer is the same.
 * Each member is optional, and what is absent costs nothing. Called in the order of the list of features.
 */
export interface Feature {
  /** Follows all model requests. */
  readonly follow?: RequestFollower;
  /** Called when a model request begins, for what needs an object of its own per request; `undefined`: it isn't watched. */
  readonly watch?: (record: RequestRecord) => RequestWatcher | undefined;
  /**
   * Decides what a client with a key of its own may use; `undefined`: anything. The only member that may refuse a request. Throws an
   * `unauthorized` fault if the key has been revoked since the request's head arrived.
   */
  readonly admit?: (request: AdmissionRequest) => (RequestAdmission & Watcher) | undefined;
  readonly routes?: readonly DocumentedRoute[];
  readonly metrics?: readonly Metric[];
  /** Called before a configuration comes into use, for what it needs; if it rejects, the configuration isn't used. */
  readonly prepare?: (config: Gateway['config']) => Promise<unknown>;
  /** Called with each gateway that replaces the one before. */
  readonly reloaded?: (gateway: Gateway) => void;
  /** A request was refused for its key, for this reason. */
  readonly keyRefused?: (reason: string) => void;
  /** Called once the port is open. */
  readonly listening?: () => void;
  /** Called when the service begins to stop: ends answers that would last. */
  readonly stopping?: () => void;
  /** Releases what it holds, once no request is served any more. */
  readonly close?: () => Promise<void>;
}

/** The admission of the first feature that admits requests. */
export const admissionOf = (features: readonly Pick<Feature, 'admit'>[]): Feature['admit'] =>
  features.find(({ admit }) => admit !== undefined)?.admit;
