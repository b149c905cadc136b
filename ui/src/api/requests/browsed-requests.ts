import { createStore } from '../../state/store.ts';

/** A request of a list. */
interface BrowsedRequest {
  readonly id: string;
  /** When the request ended, in milliseconds since 1970. Set for requests that are read from disk. */
  readonly endedAt?: number;
}

/** The list of requests that was shown last. */
interface BrowsedList {
  /** The title of its page. */
  readonly title: string;
  /** Its address, with its filters. */
  readonly address: string;
  readonly requests: readonly BrowsedRequest[];
}

/** The list that was shown last: a request's page goes on in it. */
export const browsed = createStore<BrowsedList>({ title: 'Overview', address: '#/', requests: [] });
