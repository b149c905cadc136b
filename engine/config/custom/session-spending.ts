import type { Usage } from '../../model/event.ts';
import type { Spent } from './around.ts';

/** Sessions whose use is known. A bound, since clients name them. */
const maxSessions = 10_000;

/** A request that has ended. */
interface Ended {
  readonly session: string | undefined;
  readonly usage: Usage | undefined;
  /** Nano-dollars; `undefined`: unknown. */
  readonly cost: number | undefined;
}

/** What the sessions have used that this process has served, for stages. */
export class SessionSpending {
  readonly #sessions = new Map<string, { input: number; output: number; costUsd: number | undefined }>();

  add({ session, usage, cost }: Ended): void {
    if (session === undefined || !usage) return;
    const before = this.#sessions.get(session);
    this.#sessions.delete(session);
    const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = usage;
    const costUsd = cost === undefined ? undefined : cost / 1e9;
    this.#sessions.set(session, {
      input: (before?.input ?? 0) + input + cacheRead + cacheWrite,
      output: (before?.output ?? 0) + output,
      costUsd: costUsd === undefined ? before?.costUsd : (before?.costUsd ?? 0) + costUsd,
    });
    if (this.#sessions.size <= maxSessions) return;
    for (const oldest of this.#sessions.keys()) {
      this.#sessions.delete(oldest);
      return;
    }
  }

  of(session: string | undefined): Spent {
    const spent = session === undefined ? undefined : this.#sessions.get(session);
    if (!spent) return { usage: {} };
    const { input, output, costUsd } = spent;
    return { usage: { input, output }, ...(costUsd !== undefined && { costUsd }) };
  }
}
