import { createHash } from 'node:crypto';
import {
  type Answer,
  type Batch,
  type ModelEvent,
  type ModelRequest,
  type Next,
  type Part,
  rx,
  type StageContext,
  type ToolChoice,
  type Usage,
} from 'junctor/transformer';
import type { Client } from './client.ts';
import { type Form, forms, type Pending, resultPart } from './forms.ts';
import { nameBeside, nameOfItem, remember } from './history.ts';
import { maxQuery, type Outcome, type Page, type Search } from './outcome.ts';
import { isSearch, Round, type SearchCall } from './round.ts';
import type { Searcher } from './sources.ts';

/** The inputs of a conversation with searches. */
interface Conversation {
  readonly request: ModelRequest;
  /** The name of the search function. */
  readonly name: string;
  readonly next: Next;
  readonly context: Pick<StageContext, 'id' | 'client' | 'memory' | 'limitMs'>;
  readonly search: Searcher;
  readonly maxSearches: number;
}

/** How often an empty batch says that searches are under way, in their time limit: a stage that is silent for that long counts as stuck. */
const saysPerLimit = 3;

/**
 * Asks the model, runs the searches that it calls for, and asks again with what they found, until it has answered or calls a function of the
 * client's. All of that is one answer, which goes on to the client as it comes.
 */
export const converse = (conversation: Conversation): Answer =>
  rx.defer(() => new Searching(conversation).ask(conversation.request, false));

class Searching {
  readonly #conversation: Conversation;
  readonly #form: Form;
  readonly #client: Client;
  readonly #pages = new Map<string, Page>();
  readonly #outcomes = new Map<string, Promise<Outcome>>();
  #usage: Usage = {};
  #used = 0;
  #ran = 0;

  constructor(conversation: Conversation) {
    const { wire } = conversation.context.client;
    let blocks = 0;
    this.#conversation = conversation;
    this.#form = forms[wire];
    this.#client = { wire, begun: false, text: 0, place: () => blocks++ };
  }

  /** One answer of the model, and what follows it. `isLast`: the model may search no more. */
  ask(request: ModelRequest, isLast: boolean): Answer {
    const { next, name } = this.#conversation;
    const round = new Round(this.#client, name, this.#pages);
    return rx.concat(
      next(request).pipe(
        rx.map((batch) => {
          const out: ModelEvent[] = [];
          for (const event of batch) round.take(event, out);
          return out;
        }),
      ),
      rx.defer(() => this.#goOn(request, round, isLast)),
    );
  }

  #goOn(request: ModelRequest, round: Round, isLast: boolean): Answer {
    const { stop, searches } = round;
    if (!stop) return rx.EMPTY;
    this.#count(stop.usage);
    const goesOn = stop.finish === 'tool-call' || stop.finish === 'end';
    if (searches.length === 0 || !goesOn || isLast) return this.#end(round);
    const pending = searches.map(({ query }) => this.#begin(query));
    const isOver = pending.every(({ isRefused }) => isRefused);
    return rx.concat(
      this.#shown(pending),
      rx
        .defer(async () => this.#found(pending))
        .pipe(
          rx.mergeMap((found) => {
            this.#remember(found, round.clientCall);
            if (round.clientCall !== undefined) return this.#end(round);
            return this.ask(this.#continued(request, round, found, isOver), isOver);
          }),
        ),
    );
  }

  /** Begins a search. One too many is refused. */
  #begin(query: string): Pending & { readonly isRefused: boolean } {
    const { maxSearches } = this.#conversation;
    const isRefused = this.#used >= maxSearches;
    this.#used += 1;
    const id = this.#idOf(query);
    const failed = (code: Extract<Outcome, { kind: 'failed' }>['code']) =>
      Promise.resolve({ kind: 'failed', code } as const);
    if (isRefused) return { id, query, isRefused, outcome: failed('max_uses_exceeded') };
    if (query === '') return { id, query, isRefused, outcome: failed('invalid_tool_input') };
    if (query.length > maxQuery)
      return { id, query: query.slice(0, maxQuery), isRefused, outcome: failed('query_too_long') };
    return { id, query, isRefused, outcome: this.#search(query) };
  }

  /** The id of a search: another one for each, and the same if the same request comes again. No longer than all formats allow. */
  #idOf(query: string): string {
    const { context, request } = this.#conversation;
    const known = JSON.stringify([context.id, request.turns.length, this.#used, query]);
    return `${this.#form.idPrefix}_${createHash('sha256').update(known).digest('hex').slice(0, 24)}`;
  }

  /** The same query is searched for once. */
  #search(query: string): Promise<Outcome> {
    const known = this.#outcomes.get(query);
    if (known) return known;
    this.#ran += 1;
    const outcome = this.#conversation.search(query);
    this.#outcomes.set(query, outcome);
    return outcome;
  }

  /** The blocks of searches, as they go on. */
  #shown(pending: readonly Pending[]): Answer {
    const shown = rx.from(this.#form.show(pending, this.#client.place)).pipe(rx.share());
    const alive = rx.interval(this.#conversation.context.limitMs / saysPerLimit).pipe(
      rx.map((): Batch => []),
      rx.takeUntil(shown.pipe(rx.ignoreElements(), rx.endWith(true))),
    );
    return rx.merge(alive, shown);
  }

  async #found(pending: readonly Pending[]): Promise<readonly Search[]> {
    const found = await Promise.all(
      pending.map(async ({ id, query, outcome }) => ({ id, query, outcome: await outcome })),
    );
    for (const { outcome } of found) {
      if (outcome.kind === 'found') for (const page of outcome.pages) this.#pages.set(page.url, page);
    }
    return found;
  }

  #remember(found: readonly Search[], clientCall: string | undefined): void {
    const { context } = this.#conversation;
    if (this.#form.carries) return;
    if (this.#client.wire === 'responses')
      for (const search of found) remember(context, nameOfItem(search.id), [search]);
    else if (clientCall !== undefined) remember(context, nameBeside(clientCall), found);
  }

  /** The request with what the model said and what its searches found. */
  #continued(request: ModelRequest, { parts }: Round, found: readonly Search[], isOver: boolean): ModelRequest {
    const { name } = this.#conversation;
    let number = 0;
    const said = parts.map((part): Part => (isSearch(part) ? callOf(part, found[number++], name) : part));
    return {
      ...request,
      turns: [
        ...request.turns,
        { role: 'assistant', parts: said },
        { role: 'user', parts: found.map((search) => resultPart(search)) },
      ],
      toolChoice: isOver ? withoutSearch(request, name) : afterSearch(request.toolChoice, name),
    };
  }

  /** Tokens of the prompt are those of the last call, which holds all others; what was written is summed up. */
  #count(usage: Usage): void {
    const { output, reasoning, costUsd } = this.#usage;
    this.#usage = {
      ...usage,
      output: sum(output, usage.output),
      reasoning: sum(reasoning, usage.reasoning),
      costUsd: sum(costUsd, usage.costUsd),
    };
  }

  #end({ stop, clientCall }: Round): Answer {
    if (!stop) return rx.EMPTY;
    const finish = stop.finish === 'tool-call' && clientCall === undefined ? 'end' : stop.finish;
    const usage = { ...this.#usage, ...(this.#ran > 0 && { webSearches: this.#ran }) };
    return rx.of([{ ...stop, finish, usage }]);
  }
}

const callOf = ({ signature }: SearchCall, search: Search | undefined, name: string): Part => ({
  type: 'tool-call',
  id: search?.id ?? '',
  name,
  input: { query: search?.query ?? '' },
  ...(signature && { signature }),
});

const sum = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);

/** A choice that a search has fulfilled leaves the model free. */
const afterSearch = (choice: ToolChoice | undefined, name: string): ToolChoice | undefined => {
  if (choice?.type === 'required' || (choice?.type === 'tool' && choice.name === name)) return { type: 'auto' };
  return choice?.type === 'allowed' && choice.required ? { ...choice, required: false } : choice;
};

/** All tools but the search may be called. */
const withoutSearch = ({ tools, toolChoice }: ModelRequest, name: string): ToolChoice => {
  const may = toolChoice?.type === 'allowed' ? new Set(toolChoice.names) : undefined;
  const names = tools.flatMap((tool) =>
    (tool.type === 'function' || tool.type === 'custom') && tool.name !== name && (may?.has(tool.name) ?? true)
      ? [tool.name]
      : [],
  );
  return names.length > 0 ? { type: 'allowed', required: false, names } : { type: 'none' };
};
