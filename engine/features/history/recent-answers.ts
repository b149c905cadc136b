import { performance } from 'node:perf_hooks';
import type { NodeAnswers, OtherNodes } from '../../feature.ts';
import type { HistoryReading } from './questions.ts';

/** The number of the last known request of each node, by its id. */
export type Cursors = ReadonlyMap<string, number>;

interface Asked {
  readonly atMs: number;
  readonly after: Cursors;
  readonly answers: Promise<NodeAnswers>;
}

/** Asks the other nodes, and remembers the last answers to each kind of question: feeds look more often than nodes are asked. */
export class RecentAnswers {
  readonly #nodes: OtherNodes<HistoryReading>;
  readonly #nowMs: () => number;
  readonly #asked = new Map<string, Asked>();

  constructor(nodes: OtherNodes<HistoryReading>, nowMs: () => number = () => performance.now()) {
    this.#nodes = nodes;
    this.#nowMs = nowMs;
  }

  /** Answers that are at most so old. Those about requests have all of each node after its cursor, and maybe some before it. */
  ask(question: HistoryReading, maxAgeMs: number, after: Cursors = new Map()): Promise<NodeAnswers> {
    const key = JSON.stringify(question);
    const last = this.#asked.get(key);
    const atMs = this.#nowMs();
    if (last && atMs - last.atMs < maxAgeMs && [...last.after].every(([id, n]) => n <= (after.get(id) ?? 0)))
      return last.answers;
    const answers = this.#nodes.ask((id) => {
      const n = after.get(id);
      return question.kind === 'requests' && n !== undefined ? { ...question, after: n } : question;
    });
    if (maxAgeMs > 0) this.#asked.set(key, { atMs, after, answers });
    return answers;
  }
}
