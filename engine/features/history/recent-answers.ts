import { performance } from 'node:perf_hooks';
import type { MachineAnswers, OtherMachines } from '../../feature.ts';
import type { HistoryReading } from './questions.ts';

/** The number of the last known request of each machine, by its id. */
export type Cursors = ReadonlyMap<string, number>;

interface Asked {
  readonly atMs: number;
  readonly after: Cursors;
  readonly answers: Promise<MachineAnswers>;
}

/** Asks the other machines, and remembers the last answers to each kind of question: feeds look more often than machines are asked. */
export class RecentAnswers {
  readonly #machines: OtherMachines<HistoryReading>;
  readonly #nowMs: () => number;
  readonly #asked = new Map<string, Asked>();

  constructor(machines: OtherMachines<HistoryReading>, nowMs: () => number = () => performance.now()) {
    this.#machines = machines;
    this.#nowMs = nowMs;
  }

  /** Answers that are at most so old. Those about requests have all of each machine after its cursor, and maybe some before it. */
  ask(question: HistoryReading, maxAgeMs: number, after: Cursors = new Map()): Promise<MachineAnswers> {
    const key = JSON.stringify(question);
    const last = this.#asked.get(key);
    const atMs = this.#nowMs();
    if (last && atMs - last.atMs < maxAgeMs && [...last.after].every(([id, n]) => n <= (after.get(id) ?? 0)))
      return last.answers;
    const answers = this.#machines.ask((id) => {
      const n = after.get(id);
      return question.kind === 'requests' && n !== undefined ? { ...question, after: n } : question;
    });
    if (maxAgeMs > 0) this.#asked.set(key, { atMs, after, answers });
    return answers;
  }
}
