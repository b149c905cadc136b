import type { Fault } from './fault.ts';
import type { JsonObject } from './json.ts';
import type { WireFault } from './protocol.ts';

/** One name that a client may ask for. */
export interface ListedModel {
  readonly id: string;
  /** For people. */
  readonly title: string;
  /** Who answers: a provider's name, or the gateway's where its rules decide. */
  readonly owner: string;
}

/** How one protocol's clients ask for the list of models, and what they get. */
export interface ModelListing {
  /** Whether a request with these headers comes from such a client; `header` looks them up by lower-case name. */
  readonly isAsked: (header: (name: string) => string | undefined) => boolean;
  /** What clients of this protocol want before an alias's name, or they don't offer it; absent: nothing. */
  readonly aliasPrefix?: string;
  /** The list, or the page of it that the query asks for. Throws an `invalid-request` fault for a query that makes no sense. */
  readonly encodeList: (models: readonly ListedModel[], createdAtMs: number, query: URLSearchParams) => JsonObject;
  readonly encodeModel: (model: ListedModel, createdAtMs: number) => JsonObject;
  readonly encodeFault: (fault: Fault, requestId: string) => WireFault;
}
