import { createStore } from '../state/store.ts';
import { gatewayUrl } from './gateway-url.ts';

/** Whether the gateway answers. */
interface Connection {
  readonly up: boolean;
  /** Goes up each time it answers again, so that what failed meanwhile can be asked for again. */
  readonly revision: number;
}

/** The connection to the gateway that served this page. */
export const connection = createStore<Connection>({ up: true, revision: 0 });

const askAgainMs = 2_000;

/** A call had no answer: from now on the gateway is asked until it has one. */
export const lostConnection = (): void => {
  const { up, revision } = connection.get();
  if (!up) return;
  connection.set({ up: false, revision });
  window.setTimeout(askAgain, askAgainMs);
};

const askAgain = (): void => {
  fetch(`${gatewayUrl()}/health/live`, { cache: 'no-store' }).then(
    () => connection.set({ up: true, revision: connection.get().revision + 1 }),
    () => void window.setTimeout(askAgain, askAgainMs),
  );
};
