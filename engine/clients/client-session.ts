import type { Config, NamedClient } from '../config/config.ts';
import type { Destination } from '../config/destination.ts';
import { promptTokens, type Usage } from '../model/event.ts';
import { fail } from '../model/fault.ts';
import type { RateLimit } from '../model/rate-limit.ts';
import type { Watcher } from '../observer.ts';
import { accessOf, type ClientAccess } from './client-access.ts';
import type { Limiter, LimitGrant, LimitNeed, LimitRefusal } from './limiter.ts';
import type { ClientUsage, UsageLedger } from './usage.ts';

/** What a request of a client is for: an answer of a model, or a count, which takes no tokens. */
type SessionUse = 'answer' | 'count';

/** The part of a gateway that requests of clients need. */
interface ClientServices {
  readonly access: ReadonlyMap<string, ClientAccess>;
  readonly limiter: Limiter;
  readonly usage: UsageLedger;
}

/**
 * Begins a request of a client with a key of its own. Throws an `unauthorized` fault if the key has been revoked since the
 * request's head arrived.
 */
export const clientSession = (
  services: ClientServices,
  name: string,
  preset: string | undefined,
  use: SessionUse = 'answer',
): ClientSession => new ClientSession(accessOf(services.access, name), services, preset, use);

/** Tokens reserved for an answer whose request names no maximum. */
const usualOutput = 4_096;

/** The part of the limit of tokens that one answer may reserve: clients ask for far more than they use. */
const mostReserved = 0.25;

/** The most tokens that one request counts: a provider's count may be any number, and sums must stay exact. */
const mostCounted = 2 ** 32;

/** Bytes that are taken for a token where a provider counts none. The records of a stream have far more than their text. */
const bytesPerToken = { data: 32, whole: 4 } as const;

/** One request of a client with a key of its own: what it may use, what it takes of its limits, and what it used in the end. */
export class ClientSession implements Watcher {
  readonly #access: ClientAccess;
  readonly #limiter: Limiter;
  readonly #ledger: UsageLedger;
  readonly #preset: string | undefined;
  readonly #use: SessionUse;
  #need: LimitNeed | undefined;
  #grant: LimitGrant | undefined;
  #isAnswered = false;
  #isFinished = false;
  #isBroken = false;
  /** Tokens of the answer, by its size. */
  #estimate = 0;
  #prompt = 0;
  #output = 0;

  constructor(access: ClientAccess, { limiter, usage }: ClientServices, preset: string | undefined, use: SessionUse) {
    this.#access = access;
    this.#limiter = limiter;
    this.#ledger = usage;
    this.#preset = preset;
    this.#use = use;
  }

  get name(): string {
    return this.#access.client.name;
  }

  /** Whether answers show limits. */
  get isLimited(): boolean {
    const { requestsPerMinute, tokensPerMinute } = this.#limits;
    return requestsPerMinute !== undefined || tokensPerMinute !== undefined;
  }

  get rates(): readonly RateLimit[] {
    return this.#limiter.rates(this.name, this.#limits);
  }

  get #limits(): NamedClient['limits'] {
    return this.#access.client.limits;
  }

  allowsModel(destination: Destination): boolean {
    return this.#access.allowsModel(destination);
  }

  /**
   * Takes what the request needs from the client's limits; returns a promise if other processes have to be asked. `maxTokens`: what
   * the answer may have at most. Throws, or rejects with, `forbidden` for a destination or rule that isn't allowed, `rate-limited`
   * beyond a limit, and `budget-exceeded`.
   */
  admit(
    route: Destination & { readonly scenario: string },
    { input, maxTokens = usualOutput }: { readonly input: number; readonly maxTokens?: number | undefined },
    config: Pick<Config, 'providers'>,
  ): void | Promise<void> {
    this.#access.assertAllowed({ ...route, preset: this.#preset }, config);
    const answers = this.#use === 'answer';
    if (answers) this.#assertInBudget();
    // Without a limit of tokens nothing needs to be reserved.
    const { tokensPerMinute = input } = this.#limits;
    const room = Math.max(0, tokensPerMinute - input);
    const output = Math.min(maxTokens, room, Math.ceil(tokensPerMinute * mostReserved));
    const need = answers ? { input, output, answers } : { input: 0, output: 0, answers };
    const taken = this.#limiter.take(this.name, this.#limits, need);
    return taken instanceof Promise ? taken.then((later) => this.#begin(later, need)) : this.#begin(taken, need);
  }

  #begin(taken: LimitGrant | LimitRefusal, need: LimitNeed): void {
    if (taken.type === 'refusal') throwRefusal(this.name, taken, need);
    else if (this.#isFinished) {
      // The client has left while other processes were asked.
      taken.settle(0);
    } else this.#keep(taken, need);
  }

  #keep(taken: LimitGrant, need: LimitNeed): void {
    this.#need = need;
    this.#ledger.add(this.name, { requests: 1 });
    this.#ledger.addPending(this.name, need.input);
    this.#grant = taken;
  }

  /** Answers in progress may exceed a budget by what they write; their prompts are counted ahead. */
  #assertInBudget(): void {
    const { name, budget } = this.#access.client;
    if (!budget) return;
    const { input, output } = this.#ledger.used(name, budget.per);
    if (input + output + this.#ledger.pending(name) < budget.tokens) return;
    const { atMs, inMs } = this.#ledger.next(budget.per);
    const anew = `${new Date(atMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length)}Z`;
    fail(
      'budget-exceeded',
      `The client ${name} has used its ${budget.tokens} tokens per ${budget.per}; they begin anew at ${anew}.`,
      {
        code: 'budget_exceeded',
        headers: { 'retry-after': String(Math.ceil(inMs / 1000)), 'x-should-retry': 'false' },
      },
    );
  }

  /** The upstream has accepted the request. */
  answered(): void {
    this.#isAnswered = true;
  }

  /** Called once per answer; several, if an attempt breaks off before its first byte. */
  usage(usage: Usage): void {
    this.#prompt = Math.min(mostCounted, this.#prompt + promptTokens(usage));
    this.#output = Math.min(mostCounted, this.#output + (usage.output ?? 0));
  }

  /** The answer broke off. */
  fault(): void {
    this.#isBroken = true;
  }

  /** The client gets a fault, maybe within its answer. */
  failed(): void {
    this.#isBroken = true;
  }

  part(part: Parameters<NonNullable<Watcher['part']>>[0]): void {
    if (part.type === 'data') this.#estimate += part.data.length / bytesPerToken.data;
    else if (part.type === 'whole') this.#estimate += part.body.length / bytesPerToken.whole;
  }

  /** Ends the request. Only the first call counts. */
  finished(status: number): void {
    this.#isFinished = true;
    const grant = this.#grant;
    this.#grant = undefined;
    if (!grant) return;
    this.#ledger.addPending(this.name, -(this.#need?.input ?? 0));
    const used = this.#used(status);
    grant.settle(used.input + used.output);
    if (used.input + used.output > 0) this.#ledger.add(this.name, used);
  }

  /** The tokens that the request used. What the provider doesn't say, or hadn't said when the answer broke off, is estimated. */
  #used(status: number): Omit<ClientUsage, 'requests'> {
    if (!this.#isAnswered) return { input: this.#prompt, output: this.#output };
    const input = this.#prompt > 0 ? this.#prompt : (this.#need?.input ?? 0);
    const isWhole = this.#output > 0 && status !== clientClosed && !this.#isBroken;
    return { input, output: isWhole ? this.#output : Math.max(this.#output, Math.ceil(this.#estimate)) };
  }
}

const clientClosed = 499;

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
