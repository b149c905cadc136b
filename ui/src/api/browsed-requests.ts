import { createStore } from '../state/store.ts';
import type { RequestSummary } from './requests.ts';

/** The list of requests that was shown last. */
interface BrowsedList {
  /** Its address, with its filters. */
  readonly address: string;
  readonly requests: readonly RequestSummary[];
}

/** The list that was shown last: a request's page goes on in it. */
export const browsed = createStore<BrowsedList>({ address: '#/', requests: [] });
