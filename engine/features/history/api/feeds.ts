import { setTimeout as wait } from 'node:timers/promises';
import { fail } from '../../../model/fault.ts';

/** Maximum number of open streams of a process. */
const maxFeeds = 100;

/** The shortest and the longest time between two looks at what is new, in milliseconds. Other processes are asked then. */
const pauseMs = 200;
const everyMs = 1_000;

/** An open stream: waits between two looks. */
export class Feed {
  readonly #ended = new AbortController();
  /** Ends the wait for a change. */
  #changed = new AbortController();

  get isOver(): boolean {
    return this.#ended.signal.aborted;
  }

  changed(): void {
    this.#changed.abort();
  }

  end(): void {
    this.#ended.abort();
    this.#changed.abort();
  }

  /** Resolves at a change, but not at once; without one, later; when the feed ends, at once. */
  async next(): Promise<void> {
    await pause(pauseMs, this.#ended.signal);
    await pause(everyMs - pauseMs, this.#changed.signal);
    if (!this.isOver) this.#changed = new AbortController();
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  wait(ms, undefined, { signal, ref: false }).catch(() => undefined);

/** The streams of this process that are open. */
export class Feeds {
  readonly #open = new Set<Feed>();
  #isClosed = false;

  /** A request began or ended. */
  readonly changed = (): void => {
    for (const feed of this.#open) feed.changed();
  };

  /** Throws a fault if there are too many, or the process stops. */
  add(): Feed {
    if (this.#isClosed) fail('unavailable', 'The gateway is stopping.');
    if (this.#open.size >= maxFeeds) fail('unavailable', `${maxFeeds} feeds are open, the most that a process allows.`);
    const feed = new Feed();
    this.#open.add(feed);
    return feed;
  }

  remove(feed: Feed): void {
    feed.end();
    this.#open.delete(feed);
  }

  /** Ends all, so that nothing waits for them. */
  close(): void {
    this.#isClosed = true;
    for (const feed of this.#open) feed.end();
  }
}
