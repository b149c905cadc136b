/**
 * The budget of repairs per reply, in steps of about a microsecond: client and upstream control schema and arguments,
 * and could otherwise keep the gateway busy for hours. A check of a schema against a value costs one step, plus one
 * per member.
 */
export const maxWork = 500_000;

/** A budget of steps. */
export class Work {
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  /** Whether the budget is used up; remaining repairs are skipped. */
  get isOver(): boolean {
    return this.#left <= 0;
  }

  /** Takes steps from the budget; `false` if not enough are left. */
  take(steps: number): boolean {
    this.#left -= steps;
    return !this.isOver;
  }
}
