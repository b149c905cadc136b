import { FaultError, type FaultKind } from '../model/fault.ts';
import type { JsonObject } from '../model/json/json.ts';
import type { Reply } from '../model/reply.ts';
import type { ModelRequest } from '../model/request.ts';
import type { Format } from '../model/transformer.ts';
import { betasIn, type Lesson } from '../model/upstream-error/lesson.ts';
import { lessonsIn } from '../model/upstream-error/lessons-in.ts';
import { applyChange, type Cure, type Patient } from './change.ts';
import { type CheckName, checks, type DoctorCheck } from './checks.ts';
import { type CureCandidate, curesFor } from './cures.ts';
import { open, sound, type Verdict } from './judge.ts';
import type { ProbeOutcome } from './outcome.ts';
import type { PreparedProbe } from './probe.ts';
import { reasoningTokens, usualTokens } from './requests.ts';

/** A configuration that can be asked. */
export interface Examined {
  readonly format: Format;
  readonly prepare: (request: ModelRequest, patient: Patient) => Promise<PreparedProbe | ProbeOutcome>;
  /** Further requests are changed by this, as the service's are. */
  readonly learn: (lessons: readonly Lesson[], words: string) => void;
}

interface ExaminationOptions {
  readonly patient: Patient;
  readonly source: JsonObject;
  /** Compiles a configuration; `undefined`: it has faults. */
  readonly open: (source: JsonObject) => Examined | undefined;
  /** Called with each finding as it is made. */
  readonly found: (finding: CheckResult) => void;
}

/** The result of one check. */
export interface CheckResult {
  readonly name: CheckName;
  readonly about: string;
  readonly verdict: Verdict;
  /** The cure of a deviation, proven by another request. */
  readonly cure?: Cure;
  /** The service learns from such a refusal: it sends the request once more, without what is refused. */
  readonly isLearned?: true;
  /** The provider's answer, for a deviation. */
  readonly bytes?: string;
}

/** The result of an examination. */
export interface Examination {
  readonly findings: readonly CheckResult[];
  /** The cures of the deviations, in the order in which they are applied. */
  readonly changes: readonly Cure[];
  /** The configuration with it. */
  readonly healed: JsonObject;
  readonly requests: number;
}

/** Changes that are tried for one deviation. */
const mostTries = 6;
/** Tokens of output that all such requests may ask for. */
const cureTokens = 40_000;

const asked = (check: Pick<DoctorCheck, 'asks'>): ModelRequest => check.asks(() => undefined);

/** The requests of all checks, and those that they are compared with: equal ones are made once. */
const own = [
  ...new Map(
    checks.flatMap(({ asks, plain = asks, model }) =>
      [asks, plain].map((one) => {
        const request = asked({ asks: one });
        return [JSON.stringify([model, request]), request] as const;
      }),
    ),
  ).values(),
];

const tokensOf = ({ maxTokens = 0 }: ModelRequest): number => Math.min(maxTokens, reasoningTokens);

/** The most that an examination makes and asks for. Those with tools are made again if a stage is found for them. */
export const bound = {
  usual: own.length,
  requests: own.length + own.filter(({ tools }) => tools.length > 0).length + Math.ceil(cureTokens / usualTokens),
  output: own.reduce((sum, request) => sum + tokensOf(request) * (request.tools.length > 0 ? 2 : 1), 0) + cureTokens,
};

/** Faults of the first request with which all others would fail too. */
const fatal: ReadonlySet<FaultKind> = new Set([
  'upstream-unreachable',
  'upstream-timeout',
  'upstream-auth',
  'upstream-billing',
  'upstream-forbidden',
  'upstream-not-found',
  'upstream-rate-limit',
  'upstream-overloaded',
  'upstream-garbled',
  'misconfigured',
  'no-route',
  'stage-failed',
]);

/**
 * Examines a model by the checks of the table, and looks for what heals each deviation. Equal requests are made once. Rejects with the fault
 * of a provider that can't be examined at all.
 */
export const examine = async (examination: ExaminationOptions): Promise<Examination> => {
  const { patient, found } = examination;
  const desk = new Desk(examination);
  const findings: CheckResult[] = [];
  const changes: Cure[] = [];
  let source = examination.source;
  const sounds: DoctorCheck[] = [];
  for (const check of checks) {
    const seen = await desk.look(check, source);
    if (check === checks[0] && seen.outcome.type !== 'replied' && fatal.has(seen.outcome.fault.kind)) {
      throw new FaultError(seen.outcome.fault);
    }
    const cure = seen.verdict.type === 'deviation' ? await desk.heal(check, source, seen, sounds) : undefined;
    if (cure) {
      source = applyChange(source, patient, cure);
      changes.push(cure);
    }
    if (cure || seen.verdict.type === 'sound') sounds.push(check);
    const isLearned = seen.verdict.type === 'deviation' && !cure && lessonsOf(seen.outcome).length > 0;
    // Without it, all other requests would be refused too.
    if (isLearned && check === checks[0]) desk.learn(source, seen.outcome);
    const finding: CheckResult = {
      name: check.name,
      about: check.about,
      verdict: seen.verdict,
      ...(cure && { cure }),
      ...(isLearned && { isLearned }),
      ...(seen.verdict.type === 'deviation' && 'text' in seen.outcome && { bytes: seen.outcome.text }),
    };
    findings.push(finding);
    found(finding);
  }
  return { findings, changes, healed: source, requests: desk.requests };
};

/** A look by one check. */
interface Seen {
  readonly verdict: Verdict;
  readonly outcome: ProbeOutcome;
  /** The body of the request that it is compared with. */
  readonly plain?: JsonObject | undefined;
}

/** Makes the requests. */
class Desk {
  requests = 0;
  readonly #examination: ExaminationOptions;
  readonly #outcomes = new Map<string, ProbeOutcome>();
  readonly #replies = new Map<CheckName, Reply>();
  readonly #opened = new Map<string, Examined | undefined>();
  #left = cureTokens;
  /** The checks whose point has been sent and taken. */
  readonly #sent = new Set<CheckName>();
  #isCuring = false;

  constructor(examination: ExaminationOptions) {
    this.#examination = examination;
  }

  /** Asks what the check asks, and judges. */
  async look(check: DoctorCheck, source: JsonObject): Promise<Seen> {
    const prepared = await this.#prepare(check, check.asks, source);
    if (!prepared) return { verdict: open('the configuration has faults'), outcome: unusable };
    if ('type' in prepared) return { verdict: check.judge(prepared), outcome: prepared };
    const plain = check.plain && (await this.#prepare(check, check.plain, source));
    const isAlike = plain && 'send' in plain && keyOf(plain) === keyOf(prepared);
    const outcome = await this.#send(prepared, tokensOf(asked(check)));
    if (outcome.type === 'replied') this.#replies.set(check.name, outcome.reply);
    const seen = { outcome, plain: plain && 'sent' in plain ? plain.sent.body : undefined };
    if (isAlike && outcome.type === 'replied') return { ...seen, verdict: sound(leftOut) };
    const verdict = check.judge(outcome);
    if (verdict.type === 'sound' && !this.#isCuring) this.#sent.add(check.name);
    if (verdict.type !== 'deviation' || !plain || !('send' in plain)) return { ...seen, verdict };
    const without = await this.#send(plain, tokensOf(asked(check)));
    return {
      ...seen,
      verdict: without.type === 'refused' ? open(`so it is without it: ${without.fault.message}`) : verdict,
    };
  }

  /** The first change that heals a deviation, and leaves the sound checks sound; `undefined`: none does. */
  async heal(
    check: DoctorCheck,
    source: JsonObject,
    seen: Seen,
    sounds: readonly DoctorCheck[],
  ): Promise<Cure | undefined> {
    const { patient } = this.#examination;
    const format = this.#open(source)?.format;
    if (!format || seen.outcome.type === 'unsent') return undefined;
    const candidates = curesFor(check, seen.outcome, { format, plain: seen.plain });
    const ranked = await this.#ranked(check, source, seen, candidates);
    this.#isCuring = true;
    try {
      for (const change of ranked.slice(0, mostTries)) {
        const changed = applyChange(source, patient, change);
        if (!(await this.#isSound(check, changed))) continue;
        // A stage sees calls of tools alone.
        if (change.to === 'stage' || (await this.#keeps(sounds, changed))) return change;
      }
      return undefined;
    } finally {
      this.#isCuring = false;
    }
  }

  /** Lets further requests be changed as a refusal teaches. */
  learn(source: JsonObject, outcome: ProbeOutcome): void {
    if (outcome.type === 'refused') this.#open(source)?.learn(lessonsOf(outcome), outcome.fault.message);
  }

  /** The changes that make another request of it, each once; of rows, those first that change the least else. */
  async #ranked(
    check: DoctorCheck,
    source: JsonObject,
    { outcome, plain }: Seen,
    candidates: readonly CureCandidate[],
  ): Promise<readonly Cure[]> {
    const { patient } = this.#examination;
    const known = new Set(outcome.type === 'unsent' ? [] : [keyOf(outcome)]);
    const first: Cure[] = [];
    const rows = new Map<string, { readonly change: Cure; readonly rank: number }>();
    for (const { change, isRow } of candidates) {
      const changed = applyChange(source, patient, change);
      const prepared = await this.#prepare(check, check.asks, changed);
      if (!prepared || ('type' in prepared && isRow)) continue;
      const key = 'type' in prepared ? '' : keyOf(prepared);
      if (known.has(key)) continue;
      if (!isRow) {
        known.add(key);
        first.push(change);
        continue;
      }
      // A cure that still asks for it comes before one that leaves it out.
      const leavesOut =
        !('type' in prepared) && plain !== undefined && JSON.stringify(prepared.sent.body) === JSON.stringify(plain);
      const rank = (await this.#changedBy(changed, source)) + (leavesOut ? checks.length : 0);
      const before = rows.get(key);
      if (!before || rank < before.rank) rows.set(key, { change, rank });
    }
    const rowsAt = candidates.findIndex(({ isRow }) => isRow);
    const ranked = [...rows.values()].sort((one, other) => one.rank - other.rank).map(({ change }) => change);
    const ahead = first.filter((change) => candidates.findIndex((one) => one.change === change) < rowsAt);
    return [...ahead, ...ranked, ...first.filter((change) => !ahead.includes(change))];
  }

  /** Number of checks that would ask in another way. */
  async #changedBy(changed: JsonObject, source: JsonObject): Promise<number> {
    let count = 0;
    for (const check of checks) {
      const [one, other] = [
        await this.#prepare(check, check.asks, changed),
        await this.#prepare(check, check.asks, source),
      ];
      const isSame = one && other && 'send' in one && 'send' in other && keyOf(one) === keyOf(other);
      if (!isSame) count += 1;
    }
    return count;
  }

  /** Whether a check is sound with a change, where there are tokens left to ask. */
  async #isSound(check: DoctorCheck, changed: JsonObject): Promise<boolean> {
    return this.#affords(check) && (await this.look(check, changed)).verdict.type === 'sound';
  }

  /** Whether what was sound stays so with a change: where that changes the request, it is made. */
  async #keeps(sounds: readonly DoctorCheck[], changed: JsonObject): Promise<boolean> {
    for (const check of sounds) {
      const wasSent = this.#sent.has(check.name);
      if (!this.#affords(check)) return false;
      const { verdict } = await this.look(check, changed);
      if (verdict.type === 'deviation' || (wasSent && isLeftOut(verdict))) return false;
    }
    return true;
  }

  /** Whether what a check may ask for is left. */
  #affords(check: DoctorCheck): boolean {
    return this.#left >= tokensOf(asked(check)) + (check.plain ? tokensOf(asked({ asks: check.plain })) : 0);
  }

  async #prepare(
    check: DoctorCheck,
    asks: DoctorCheck['asks'],
    source: JsonObject,
  ): Promise<PreparedProbe | ProbeOutcome | undefined> {
    const { patient } = this.#examination;
    const request = asks((name) => this.#replies.get(name));
    return this.#open(source)?.prepare(request, {
      ...patient,
      ...(check.model !== undefined && { model: check.model }),
    });
  }

  #open(source: JsonObject): Examined | undefined {
    const key = JSON.stringify(source);
    if (!this.#opened.has(key)) this.#opened.set(key, this.#examination.open(source));
    return this.#opened.get(key);
  }

  async #send(prepared: PreparedProbe, tokens: number): Promise<ProbeOutcome> {
    const key = keyOf(prepared);
    const known = this.#outcomes.get(key);
    if (known) return known;
    this.requests += 1;
    if (this.#isCuring) this.#left -= tokens;
    const outcome = await prepared.send();
    this.#outcomes.set(key, outcome);
    return outcome;
  }
}

const lessonsOf = (outcome: ProbeOutcome): readonly Lesson[] =>
  outcome.type === 'refused' ? lessonsIn(outcome.fault, outcome.sent, outcome.sent.estimate) : [];

const leftOut = 'not sent: the format or the configuration leaves it out';
const isLeftOut = (verdict: Verdict): boolean => verdict.type === 'sound' && verdict.detail === leftOut;

const unusable: ProbeOutcome = {
  type: 'unsent',
  fault: { kind: 'misconfigured', message: 'The configuration has faults.' },
};

/** The key by which two calls are the same. */
const keyOf = ({ sent }: Pick<PreparedProbe, 'sent'>): string =>
  JSON.stringify([sent.body, betasIn(sent), sent.body.tools === undefined ? [] : sent.stages]);
