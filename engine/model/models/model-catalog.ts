import { type Fault, fail } from '../fault.ts';
import type { JsonObject } from '../json/json.ts';
import type { WireFault } from '../protocol.ts';
import type { ListedModel, ModelFacts } from './model-facts.ts';

/** The form of a vendor's list of models, at `/models` beside the path of its calls. */
export interface VendorModels {
  /** The first page's query; absent: none. */
  readonly query?: string;
  /** Decodes one page. Throws an `upstream-garbled` fault for any other body. */
  readonly decode: (body: JsonObject) => VendorModelPage;
}

/** One page of a vendor's list. */
export interface VendorModelPage {
  readonly models: readonly ListedModel[];
  /** The next page's query; absent: this is the last page. */
  readonly next?: string;
}

/** Throws the fault of an answer that isn't a list of models. */
export const noVendorModels = (): never =>
  fail('upstream-garbled', 'The upstream answered, but not with a list of models.');

/** A model name that clients can request. */
export interface ClientModel {
  readonly id: string;
  /** Display name. */
  readonly title: string;
  /** The provider's name, or the gateway's if its routing rules decide. */
  readonly owner: string;
  /** Its known facts; of a name that several models share, those of all of them. */
  readonly facts: ModelFacts;
}

/** One line on a model, which clients show beside its name. */
export const describeModel = ({ owner, facts }: ClientModel): string => {
  const window = facts.maxInput ?? facts.context;
  return [
    owner === gatewayOwner ? 'By the rules of Junctor' : `From ${owner}, by Junctor`,
    ...(window === undefined ? [] : [`${window.toLocaleString('en')} tokens of context`]),
    ...(facts.maxOutput === undefined ? [] : [`answers of up to ${facts.maxOutput.toLocaleString('en')}`]),
  ].join('; ');
};

/** The owner of names that the gateway's own rules resolve. */
export const gatewayOwner = 'junctor';

/** The model list in the format of one client protocol. */
export interface ClientModels {
  /** Whether a request comes from such a client; `header` looks up headers by lower-case name. */
  readonly matches: (header: (name: string) => string | undefined) => boolean;
  /** Prefix that clients of this protocol require in an alias's name; absent: none. */
  readonly aliasPrefix?: string;
  /** Encodes the list, or the page that the query selects. Throws an `invalid-request` fault for an invalid query. */
  readonly encodeList: (models: readonly ClientModel[], createdAtMs: number, query: URLSearchParams) => JsonObject;
  readonly encodeModel: (model: ClientModel, createdAtMs: number) => JsonObject;
  readonly encodeFault: (fault: Fault, requestId: string) => WireFault;
}
