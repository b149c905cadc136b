import type { SessionPart } from '../../store/questions.ts';
import type { Session } from '../record/schema.ts';

/** Of one session. */
const maxTools = 50;
const maxSteps = 100;

type Step = Session['models'][number];

/** Sums up the requests of one session. */
class SessionSum {
  readonly #id: string;
  #client: string | undefined;
  #startedAt = Number.MAX_SAFE_INTEGER;
  #endedAt = 0;
  #requests = 0;
  #turns = 1;
  #failed = 0;
  #busyMs = 0;
  readonly #tools = new Map<string, number>();
  readonly #usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  #cost = 0;
  #unpriced = 0;
  /** Each routed request as a step of its own. */
  readonly #steps: Step[] = [];

  constructor(id: string) {
    this.#id = id;
  }

  get endedAt(): number {
    return this.#endedAt;
  }

  add(request: SessionPart): void {
    const { startedAt, endedAt, failed, durationMs, usage, cost, tools, turns, client } = request;
    if (endedAt >= this.#endedAt) this.#client = client;
    this.#startedAt = Math.min(this.#startedAt, startedAt);
    this.#endedAt = Math.max(this.#endedAt, endedAt);
    this.#requests += 1;
    this.#turns = Math.max(this.#turns, turns);
    if (failed) this.#failed += 1;
    this.#busyMs += durationMs;
    for (const name of tools) {
      if (this.#tools.size < maxTools || this.#tools.has(name)) this.#tools.set(name, (this.#tools.get(name) ?? 0) + 1);
    }
    let kind: keyof Session['usage'];
    for (kind in this.#usage) this.#usage[kind] += usage?.[kind] ?? 0;
    this.#cost += cost ?? 0;
    if (usage && cost === undefined) this.#unpriced += 1;
    const { provider, model, scenario } = request;
    if (provider !== undefined && model !== undefined) {
      this.#steps.push({ provider, model, ...(scenario !== undefined && { scenario }), startedAt, requests: 1 });
    }
  }

  show(): Session {
    return {
      id: this.#id,
      ...(this.#client !== undefined && { client: this.#client }),
      startedAt: this.#startedAt,
      endedAt: this.#endedAt,
      requests: this.#requests,
      turns: this.#turns,
      failed: this.#failed,
      busyMs: Math.round(this.#busyMs * 10) / 10,
      tools: [...this.#tools]
        .map(([name, calls]) => ({ name, calls }))
        .toSorted((one, other) => other.calls - one.calls),
      usage: this.#usage,
      cost: this.#cost,
      unpriced: this.#unpriced,
      models: inRows(this.#steps.toSorted((one, other) => one.startedAt - other.startedAt)).slice(-maxSteps),
    };
  }
}

/** Joins steps that lead to the same model. */
const inRows = (steps: readonly Step[]): readonly Step[] => {
  const rows: Step[] = [];
  for (const step of steps) {
    const last = rows.at(-1);
    if (last?.provider === step.provider && last.model === step.model) {
      rows[rows.length - 1] = { ...last, requests: last.requests + 1 };
    } else rows.push(step);
  }
  return rows;
};

/** The sessions of requests, the one that was used last first. */
export const sessionsOf = (requests: readonly SessionPart[]): readonly Session[] => {
  const sums = new Map<string, SessionSum>();
  for (const request of requests) {
    const sum = sums.get(request.session) ?? new SessionSum(request.session);
    sums.set(request.session, sum);
    sum.add(request);
  }
  return [...sums.values()].toSorted((one, other) => other.endedAt - one.endedAt).map((sum) => sum.show());
};
