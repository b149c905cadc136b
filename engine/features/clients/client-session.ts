import type { NamedClient } from '../../config/config.ts';
import type { Spent as StageSpent } from '../../config/custom/around.ts';
import type { ClientBudget } from '../../config/schema.ts';
import type { Destination } from '../../config/sections/destination.ts';
import type { RequestAdmission } from '../../exchange.ts';
import type { AdmissionRequest } from '../../feature.ts';
import { dataLength, type ReplyPart } from '../../http/endpoint.ts';
import { promptTokens } from '../../model/event.ts';
import { fail } from '../../model/fault.ts';
import type { RateLimit } from '../../model/rate-limit.ts';
import { clientGone } from '../../model/status.ts';
import type { ObservedAttempt, RequestListener } from '../../observe/listener.ts';
import type { RequestRecord } from '../../request-record.ts';
import { nanoPerUsd } from '../../routing/catalogue/catalogue.ts';
import { accessOf, type ClientAccess } from '../../routing/client-access.ts';
import type { Gateway } from '../../routing/gateway.ts';
import type { Limiter, LimitGrant, LimitNeed, LimitRefusal } from './limiter.ts';
import type { UsageLedger } from './usage.ts';

/** What requests of clients use, whichever gateway serves them. */
export interface ClientServices {
  readonly limiter: Limiter;
  readonly usage: UsageLedger;
}

/** Tokens reserved for an answer whose request names no maximum. */
const usualOutput = 4_096;

/** The part of the limit of tokens that one answer may reserve: clients ask for far more than they use. */
const mostReserved = 0.25;

/** Bytes that are taken for a token where a provider counts none. The records of a stream have far more than their text. */
const bytesPerToken = { data: 32, whole: 4 } as const;

/** A named client's request: its access, the limits it reserves, and its final usage. */
export class ClientSession implements RequestAdmission, RequestListener<readonly [record?: RequestRecord]> {
  readonly #access: ClientAccess;
  readonly #counts: ClientServices;
  readonly #preset: string | undefined;
  readonly #use: AdmissionRequest['use'];
  #need: LimitNeed | undefined;
  #grant: LimitGrant | undefined;
  #endPending: () => void = () => undefined;
  #isFinished = false;
  /** Tokens of the answer, by its size. */
  #estimate = 0;
  /** Absent: a count. */
  #record: RequestRecord | undefined;

  /** Throws an `unauthorized` fault if the client's key has been revoked. */
  constructor(counts: ClientServices, name: string, { gateway, preset, use }: Omit<AdmissionRequest, 'namedClient'>) {
    this.#access = accessOf(gateway.access, name);
    this.#counts = counts;
    this.#preset = preset;
    this.#use = use;
  }

  get #name(): string {
    return this.#access.client.name;
  }

  /** Whether answers show limits. */
  get isLimited(): boolean {
    const { requestsPerMinute, tokensPerMinute } = this.#limits;
    return requestsPerMinute !== undefined || tokensPerMinute !== undefined;
  }

  get rates(): readonly RateLimit[] {
    return this.#counts.limiter.rates(this.#name, this.#limits);
  }

  get #limits(): NamedClient['limits'] {
    return this.#access.client.limits;
  }

  /** In the budget's period; without a budget, this month. */
  spent(): StageSpent {
    const { budget } = this.#access.client;
    const { input, output, cost } = this.#counts.usage.used(this.#name, budget?.per ?? 'month');
    return { usage: { input, output }, costUsd: cost / nanoPerUsd };
  }

  allowsModel(destination: Destination): boolean {
    return this.#use === 'stage' || this.#access.allowsModel(destination);
  }

  /**
   * Takes what the request needs from the client's limits; returns a promise if other processes have to be asked. `maxTokens`: what
   * the answer may have at most. Throws, or rejects with, `forbidden` for a destination or rule that isn't allowed, `rate-limited`
   * beyond a limit, and `budget-exceeded`.
   */
  admit(
    route: Destination & { readonly scenario: string },
    { input, maxTokens = usualOutput }: { readonly input: number; readonly maxTokens?: number | undefined },
    config: Pick<Gateway['config'], 'providers'>,
  ): void | Promise<void> {
    if (this.#use !== 'stage') this.#access.assertAllowed({ ...route, preset: this.#preset }, config);
    const { budget } = this.#access.client;
    if (!budget || this.#use === 'count') return this.#take(input, maxTokens);
    const known = this.#counts.usage.whenKnown(this.#name, budget.per);
    const takeInBudget = (): void | Promise<void> => {
      this.#assertInBudget(budget);
      return this.#take(input, maxTokens);
    };
    return known ? known.then(takeInBudget) : takeInBudget();
  }

  #take(input: number, maxTokens: number): void | Promise<void> {
    const uses = this.#use !== 'count';
    // A call of a stage is within an answer, which counts among the concurrent ones already.
    const answers = this.#use === 'answer';
    // Without a limit of tokens nothing needs to be reserved.
    const { tokensPerMinute = input } = this.#limits;
    const room = Math.max(0, tokensPerMinute - input);
    const output = Math.min(maxTokens, room, Math.ceil(tokensPerMinute * mostReserved));
    const need = uses ? { input, output, answers } : { input: 0, output: 0, answers };
    const taken = this.#counts.limiter.take(this.#name, this.#limits, need);
    return taken instanceof Promise ? taken.then((later) => this.#begin(later, need)) : this.#begin(taken, need);
  }

  #begin(taken: LimitGrant | LimitRefusal, need: LimitNeed): void {
    if (taken.type === 'refusal') throwRefusal(this.#name, taken, need);
    else if (this.#isFinished) {
      // The client has left while other processes were asked.
      taken.settle(0);
    } else this.#keep(taken, need);
  }

  #keep(taken: LimitGrant, need: LimitNeed): void {
    this.#need = need;
    this.#grant = taken;
    const record = this.#record;
    if (!record) return;
    record.isAdmitted = true;
    const { budget } = this.#access.client;
    const cost = budget?.usd === undefined ? 0 : (record.costOf({ input: need.input, output: 0 }) ?? 0);
    this.#endPending = this.#counts.usage.addPending(this.#name, { tokens: need.input, cost });
  }

  /** Answers in progress may exceed a budget by what they write; their prompts are counted ahead. */
  #assertInBudget({ tokens, usd, per }: ClientBudget): void {
    const name = this.#name;
    const { usage } = this.#counts;
    const spent = usage.spent(name, per);
    const pending = usage.pending(name);
    const used =
      tokens !== undefined && spent.tokens + pending.tokens >= tokens
        ? `${tokens} tokens`
        : usd !== undefined && spent.cost + pending.cost >= usd * nanoPerUsd
          ? `${usd} USD`
          : undefined;
    if (used === undefined) return;
    const { atMs, inMs } = usage.next(per);
    const anew = `${new Date(atMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length)}Z`;
    fail('budget-exceeded', `The client ${name} has used its ${used} per ${per}; they begin anew at ${anew}.`, {
      code: 'budget_exceeded',
      headers: { 'retry-after': String(Math.ceil(inMs / 1000)), 'x-should-retry': 'false' },
    });
  }

  routed(_: ObservedAttempt, record?: RequestRecord): void {
    this.#record = record;
  }

  part(part: ReplyPart): void {
    if (part.type === 'data') this.#estimate += dataLength(part) / bytesPerToken.data;
    else if (part.type === 'whole') this.#estimate += part.body.length / bytesPerToken.whole;
  }

  /** Ends the request. Only the first call counts. */
  finished(status: number): void {
    this.#isFinished = true;
    const grant = this.#grant;
    this.#grant = undefined;
    if (!grant) return;
    this.#endPending();
    const record = this.#record;
    if (record?.isAnswered) this.#estimateRest(record, status);
    const { usage = {}, cost = 0, mayCost = false } = record ?? {};
    const { output = 0 } = usage;
    const input = promptTokens(usage);
    grant.settle(input + output);
    if (!record) return;
    const unpriced = mayCost && record.cost === undefined ? 1 : 0;
    this.#counts.usage.add(this.#name, { requests: 1, input, output, cost, unpriced }, this.#access.client.budget?.per);
  }

  /** Estimates what the provider doesn't say, or hadn't said when the answer broke off. */
  #estimateRest(record: RequestRecord, status: number): void {
    const { usage = {}, fault } = record;
    const counted = usage.output ?? 0;
    const isWhole = counted > 0 && status !== clientGone && !fault;
    const input = promptTokens(usage) > 0 ? 0 : (this.#need?.input ?? 0);
    const output = isWhole ? 0 : Math.max(0, Math.ceil(this.#estimate) - counted);
    // A prompt alone has no price: that an answer of no tokens came with it must be said, too.
    if (input + output > 0 || usage.output === undefined) record.estimated({ input, output });
  }
}

const limitNames = {
  requestsPerMinute: { code: 'requests_per_minute', text: 'requests per minute' },
  tokensPerMinute: { code: 'tokens_per_minute', text: 'tokens per minute' },
  streams: { code: 'streams', text: 'answers at a time' },
} as const satisfies Record<LimitRefusal['limit'], object>;

const throwRefusal = (client: string, { limit, waitMs, most }: LimitRefusal, { input }: LimitNeed): never => {
  const { code, text } = limitNames[limit];
  if (waitMs === undefined) {
    fail('rate-limited', `The request has about ${input} tokens; the client ${client} may use ${most} ${text}.`, {
      code,
      headers: { 'x-should-retry': 'false' },
    });
  }
  const seconds = Math.max(1, Math.ceil((waitMs ?? 0) / 1000));
  return fail(
    'rate-limited',
    `The client ${client} has reached its limit of ${most} ${text}. Try again in ${seconds} s.`,
    {
      code,
      headers: { 'retry-after': String(seconds) },
    },
  );
};
