import { fail } from './fault.ts';
import type { JsonObject } from './json.ts';

/** How a vendor lists its models: at `/models`, beside the path of its calls. */
export interface ModelList {
  /** The first page's query; absent: none. */
  readonly query?: string;
  /** Throws an `upstream-garbled` fault for what is no such list. */
  readonly decode: (body: JsonObject) => ModelPage;
}

/** One page of a vendor's list. */
export interface ModelPage {
  /** Names as requests give them. */
  readonly models: readonly string[];
  /** The next page's query; absent: there is none. */
  readonly next?: string;
}

/** The fault of an answer that is no list of models. */
export const noModelList = (): never =>
  fail('upstream-garbled', 'The upstream answered, but not with a list of models.');
