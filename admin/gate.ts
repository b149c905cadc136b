import type { Pausable } from '../engine/backpressure.ts';

/** Pauses reading while the client is slow. */
export class Gate implements Pausable {
  /** Resolves on `resume`; `undefined` unless paused. */
  opened: Promise<void> | undefined;
  #open: (() => void) | undefined;

  pause(): void {
    this.opened ??= new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  resume(): void {
    this.#open?.();
    this.opened = undefined;
  }
}
