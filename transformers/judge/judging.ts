import { createHash } from 'node:crypto';
import {
  type Batch,
  inputObject,
  type JsonObject,
  type ModelEvent,
  type ModelRequest,
  rx,
  type StageContext,
  whole,
} from 'junctor/transformer';
import { type Case, questionOf } from './question.ts';
import { type Verdict, verdictIn, verdictOf } from './verdict.ts';

/** The judgement of an answer. */
interface Terms {
  /** The destination of the questions. */
  readonly judge: string;
  readonly rules: string | undefined;
  /** Minimum probability that a call isn't flagged, from 0 to 1; `undefined`: the judge's choice counts. */
  readonly atLeast: number | undefined;
  /** The agent's description of the user's computer for a classifier. */
  readonly machine: unknown;
}

/** Calls of one answer that are judged, and characters of all of their arguments. All others are unavailable. */
const maxCalls = 12;
const maxCharacters = 256 * 1024;
/** The most characters of one call's arguments, and of what the agent tells of the machine. */
const maxInput = 64 * 1024;
const maxMachine = 128 * 1024;
/** Maximum length of the user's text, from its end, and of a tool's description, from its beginning. */
const maxText = 8 * 1024;
const maxDescription = 1_024;

/** The part of the stage's time limit that a verdict has: the answer's end must still be in time. */
const inTime = 0.9;

/** Lifetime of a cached verdict, in milliseconds. */
const keepMs = 600_000;

/** A call whose arguments are arriving. */
interface OpenCall {
  readonly id: string;
  readonly name: string;
  input: string;
}

/** An entry of `tool_uses`. */
type ToolUse = readonly [id: string, verdict: JsonObject];

/** Judges the calls of one answer, each as soon as it is complete. Never fails: a call without a verdict is unavailable. */
export class Judging {
  /** As the stages before have left it: what they hide from the model, the judge doesn't see either. */
  readonly #request: ModelRequest;
  readonly #context: StageContext;
  readonly #terms: Terms;
  readonly #questions = new rx.Subscription();
  readonly #toolUses: rx.Observable<ToolUse>[] = [];
  #open: OpenCall | undefined;
  #characters = 0;

  constructor(request: ModelRequest, context: StageContext, terms: Terms) {
    this.#request = request;
    this.#context = context;
    this.#terms = terms;
  }

  /** Reads a batch on its way to the client. Gives it back, with an id for each call that has none. */
  read(batch: Batch): Batch {
    return batch.map((event) => this.#read(event));
  }

  /** All verdicts, by the calls' ids, once each call has its own. */
  results(): rx.Observable<JsonObject> {
    return (this.#toolUses.length > 0 ? rx.forkJoin(this.#toolUses) : rx.of([])).pipe(
      rx.map((toolUses) => {
        const results = new Map<string, JsonObject>();
        for (const [id, verdict] of toolUses)
          results.set(id, results.has(id) ? unavailable('two calls have this id') : verdict);
        this.#tell([...results.values()]);
        return Object.fromEntries(results);
      }),
    );
  }

  /** Takes all open questions back. */
  end(): void {
    this.#questions.unsubscribe();
  }

  #read(event: ModelEvent): ModelEvent {
    if (event.type === 'block-start' && event.block.type === 'tool-call') {
      const id = event.block.id || this.#newId();
      this.#open = { id, name: event.block.name, input: '' };
      return id === event.block.id ? event : { ...event, block: { ...event.block, id } };
    }
    if (event.type === 'input-delta' && this.#open && this.#open.input.length <= maxInput) {
      this.#open.input += event.json;
    } else if (event.type === 'block-stop' && this.#open) {
      this.#judge(this.#open);
      this.#open = undefined;
    }
    return event;
  }

  /** Unique in the conversation. */
  #newId(): string {
    return `toolu_${digest([this.#context.id, this.#toolUses.length]).slice(0, 24)}`;
  }

  #judge({ id, name, input }: OpenCall): void {
    this.#characters += input.length;
    const why = this.#obstacle(input);
    const verdict = why === undefined ? this.#ask(this.#caseOf(name, input)) : rx.of(unavailable(why));
    const toolUse = new rx.AsyncSubject<ToolUse>();
    this.#toolUses.push(toolUse);
    this.#questions.add(verdict.pipe(rx.map((given): ToolUse => [id, given])).subscribe(toolUse));
  }

  /** Why a call isn't judged. */
  #obstacle(input: string): string | undefined {
    if (this.#toolUses.length >= maxCalls) return `the answer has more than ${maxCalls} calls`;
    if (input.length > maxInput) return 'its arguments are too long';
    if (this.#characters > maxCharacters) return 'the arguments of all calls are too long';
    if (inputObject(input) === undefined) return 'its arguments are no JSON object';
    if (JSON.stringify(this.#terms.machine ?? null).length > maxMachine) return 'the context is too long';
    return undefined;
  }

  #caseOf(tool: string, input: string): Case {
    const declared = this.#request.tools.find((one) => 'name' in one && one.name === tool);
    const description =
      declared && 'description' in declared ? declared.description?.slice(0, maxDescription) : undefined;
    const request = newestText(this.#request).slice(-maxText);
    return { request, context: this.#terms.machine, tool, description, input };
  }

  #ask(asked: Case): rx.Observable<JsonObject> {
    const { memory } = this.#context;
    const { judge, rules, atLeast } = this.#terms;
    const key = digest([judge, rules, atLeast, asked]);
    return rx
      .defer(() => memory.get(key))
      .pipe(
        rx.mergeMap((kept) => {
          const verdict = verdictIn(kept);
          return verdict ? rx.of(verdict) : this.#question(asked, key);
        }),
        rx.map((verdict) => (verdict ? evaluated(verdict) : unavailable("the judge's answer is no verdict"))),
        rx.catchError((error: unknown) => {
          this.#context.log(`no verdict on ${asked.tool}`, {
            error: error instanceof Error ? error.message : String(error),
          });
          return rx.of(unavailable('the judge gave no answer'));
        }),
      );
  }

  #question(asked: Case, key: string): rx.Observable<Verdict | undefined> {
    const { ask, limitMs } = this.#context;
    const question = ask(this.#terms.judge, questionOf(asked, this.#terms.rules), { limitMs: limitMs * inTime });
    return whole(question.events).pipe(
      rx.map((reply) => {
        const verdict = verdictOf(reply, this.#terms.atLeast);
        if (verdict) this.#keep(key, verdict);
        return verdict;
      }),
    );
  }

  /** A verdict that can't be kept counts all the same. */
  #keep(key: string, { answer, explanation }: Verdict): void {
    try {
      this.#context.memory.set(key, { answer, explanation }, { ms: keepMs });
    } catch {
      // The memory is full.
    }
  }

  #tell(verdicts: readonly JsonObject[]): void {
    if (verdicts.length === 0) return;
    const count = (is: (verdict: JsonObject) => boolean): number => verdicts.filter(is).length;
    this.#context.log('calls judged', {
      calls: verdicts.length,
      flagged: count(({ outcome }) => outcome === 'flagged'),
      unavailable: count(({ type }) => type === 'unavailable'),
    });
  }
}

const evaluated = ({ answer, explanation }: Verdict): JsonObject => ({
  type: 'evaluated',
  outcome: answer,
  ...(explanation !== '' && { explanation }),
});

const unavailable = (reason: string): JsonObject => ({ type: 'unavailable', reason });

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** The text of the user's newest turn that has one: the newest of all may have results of tools only. */
const newestText = ({ turns }: ModelRequest): string => {
  const newest = turns.findLast(({ role, parts }) => role === 'user' && parts.some(({ type }) => type === 'text'));
  return (newest?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
};
