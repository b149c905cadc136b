import { finalize, from, type Observable } from 'rxjs';
import type { Backpressure, Pausable } from '../engine/backpressure.ts';

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

/** Emits what a generator yields; it waits for the gate while the client is slow. */
export const gated = <T>(backpressure: Backpressure, parts: (gate: Gate) => AsyncIterable<T>): Observable<T> => {
  const gate = new Gate();
  backpressure.attach(gate);
  // Resumes on disconnect, so that a paused generator doesn't stay.
  return from(parts(gate)).pipe(finalize(() => gate.resume()));
};
