import { hash } from 'node:crypto';
import { catchError, defer, firstValueFrom, from, mergeMap, Observable, of, tap, throwError, timer } from 'rxjs';
import { decisionIn, eventsIn, replyOf, whole } from '../config/custom/answers.ts';
import type { Answer, Asked, AskOptions, DecideOptions, Decision, WholeAnswer } from '../config/custom/around.ts';
import { border, currentStage } from '../config/custom/stage-context.ts';
import type { Routed, StageCall } from '../exchange.ts';
import { requestProblem } from '../model/checked/check-request.ts';
import { decisionRequest, questionFault, yesOrNo } from '../model/decision.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { type Fault, FaultError, messageOf, quoted } from '../model/fault.ts';
import { isJsonObject, type Json } from '../model/json/json.ts';
import type { ModelRequest } from '../model/request.ts';
import { limitOf, type StageGateway, type StageLife, type StageOf } from './stage-parts.ts';

/** The stage that asks, and the request that it asks for. */
interface Asker {
  readonly routed: Routed;
  readonly stage: StageOf;
  readonly gateway: StageGateway;
  readonly life: StageLife;
}

/** Calls that a stage's call may be made within. */
export const maxCallDepth = 2;

/** Default lifetime of a cached result, in milliseconds. */
const usualKeepMs = 600_000;

/** A question of a stage to another model. */
export const askStage = (asker: Asker, to: string, request: ModelRequest | string, options: AskOptions = {}): Asked =>
  new Question(questionEvents(asker, to, request, options));

/** A question of a stage that has one of a few answers. */
export const decideStage = async (asker: Asker, to: string, given: DecideOptions): Promise<Decision> => {
  const { question, answers = yesOrNo, about, ...options } = given;
  const place = `decide(${quoted(String(to))})`;
  const fault = questionFault({ question, answers, about });
  if (fault !== undefined) throw stageFailure(asker.stage.name, place, fault);
  const reply = await firstValueFrom(
    whole(questionEvents(asker, to, decisionRequest({ question, answers, about }), options, place)),
  );
  const decision = decisionIn(reply, answers);
  if (!decision) throw stageFailure(asker.stage.name, place, `the answer is none of ${answers.map(quoted).join(', ')}`);
  return decision;
};

/** Asks when it is awaited. */
class Question implements Asked {
  readonly [Symbol.toStringTag] = 'Question';
  readonly events: Answer;
  #reply: Promise<WholeAnswer> | undefined;

  constructor(events: Answer) {
    this.events = events;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting it asks the question
  then<T = WholeAnswer, E = never>(
    onReply?: ((reply: WholeAnswer) => T | PromiseLike<T>) | null,
    onError?: ((error: unknown) => E | PromiseLike<E>) | null,
  ): Promise<T | E> {
    return this.#asked.then(onReply, onError);
  }

  catch<E = never>(onError?: ((error: unknown) => E | PromiseLike<E>) | null): Promise<WholeAnswer | E> {
    return this.#asked.catch(onError);
  }

  finally(onSettled?: (() => void) | null): Promise<WholeAnswer> {
    return this.#asked.finally(onSettled);
  }

  get #asked(): Promise<WholeAnswer> {
    this.#reply ??= firstValueFrom(whole(this.events));
    return this.#reply;
  }
}

const questionEvents = (
  asker: Asker,
  to: string,
  request: ModelRequest | string,
  options: AskOptions,
  place = `ask(${quoted(String(to))})`,
): Answer => {
  const { routed, stage, gateway, life } = asker;
  const { key, keepMs = usualKeepMs, limitMs = limitOf(stage, gateway) } = options;
  const asked = defer(() =>
    stageCall(routed, stage, { kind: 'ask', request: questionOf(request, place, stage.name), to }, place),
  ).pipe(
    wholeWithin(limitMs, () => stageFailure(stage.name, place, `got no whole answer within ${limitMs} ms`)),
    catchError((error: unknown) => throwError(() => failedQuestion(stage.name, place, error))),
  );
  const answered = key === undefined ? asked : keptAnswer(asker, `${to}\0${key}`, keepMs, asked);
  return defer(() => border<Batch>(undefined, currentStage())(endWith(life, stage.name, place, answered)));
};

/** Gives the answer that is kept by this key, or keeps this one. One that can't be kept is given all the same. */
const keptAnswer = ({ stage, gateway }: Asker, key: string, keepMs: number, asked: Answer): Answer => {
  const memory = gateway.stageMemories.of(stage.name);
  const name = `ask ${hash('sha256', key, 'base64url')}`;
  return from(memory.get(name)).pipe(
    mergeMap((kept) => {
      const events = keptEvents(kept);
      if (events) return of(events);
      const all: ModelEvent[] = [];
      return asked.pipe(
        tap({
          next: (batch) => {
            for (const event of batch) all.push(event);
          },
          complete() {
            try {
              memory.set(name, JSON.parse(JSON.stringify({ events: all })), { ms: keepMs });
            } catch (error) {
              if (!(error instanceof FaultError)) throw error;
            }
          },
        }),
      );
    }),
  );
};

/** Values that this module has cached itself, maybe in an older version. */
const keptEvents = (kept: Json | undefined): Batch | undefined => {
  if (!isJsonObject(kept)) return undefined;
  try {
    return replyOf(eventsIn(kept.events)).events;
  } catch {
    return undefined;
  }
};

/** The request of a question; a text is one of the user's. */
const questionOf = (request: unknown, place: string, name: string): ModelRequest => {
  if (typeof request === 'string') {
    return {
      model: '',
      system: [],
      turns: [{ role: 'user', parts: [{ type: 'text', text: request }] }],
      tools: [],
      stream: true,
    };
  }
  return checkedRequest(request, place, name);
};

/** A request that a stage hands over, checked: a custom module may hand over anything. Throws `stage-failed`, with the place, if it isn't one. */
export const checkedRequest = (request: unknown, place: string, name: string): ModelRequest => {
  const problem = requestProblem(request);
  if (problem) throw stageFailure(name, place, `an invalid request: ${problem.path || 'it'} ${problem.message}`);
  return request as ModelRequest;
};

/**
 * A call that a stage makes beside the request's own. Throws a `stage-failed` fault, with the stage's name and the place, for one without
 * leave, too deep, or beyond the number of calls.
 */
export const stageCall = (
  routed: Routed,
  stage: StageOf,
  call: Pick<StageCall, 'kind' | 'request' | 'to'>,
  place: string,
): Observable<Batch> => {
  const { calls } = routed;
  const { name, position, about } = stage;
  const refuse = (what: string): never => {
    throw stageFailure(name, place, what);
  };
  if (call.to !== undefined && !about.asks?.includes(call.to.trim())) {
    refuse(`has no leave: ${about.entry ?? 'its entry'} in the configuration must name ${quoted(call.to)} in "ask"`);
  }
  if (!calls) return refuse('is possible only while a client is served');
  if (calls.depth >= maxCallDepth) refuse(`is too deep: it would be within ${maxCallDepth} other calls of stages`);
  takeCall(routed, name, place);
  return calls.run({ ...call, for: routed, stage: name, after: position });
};

/** Counts a call that a stage makes. Throws a `stage-failed` fault beyond the number that a client's request may cause. */
export const takeCall = ({ calls }: Routed, name: string, place: string): void => {
  if (!calls) return;
  if (calls.left.count <= 0)
    throw stageFailure(name, place, 'is one too many: the stages have made all calls that one request may cause');
  calls.left.count -= 1;
};

export const stageFailure = (name: string, place: string, what: string, cause?: unknown): FaultError =>
  new FaultError(
    { kind: 'stage-failed', message: `Transformer "${name}" failed in ${place}: ${what}.` },
    cause === undefined ? {} : { cause },
  );

/** The failure of a question, under its stage's name: it says nothing of the request's own destination. */
const failedQuestion = (name: string, place: string, error: unknown): FaultError => {
  if (!(error instanceof FaultError)) return stageFailure(name, place, messageOf(error), error);
  const { fault } = error;
  return fault.kind === 'stage-failed' ? error : stageFailure(name, place, withoutStop(fault), error);
};

const withoutStop = ({ message }: Fault): string => message.replace(/\.$/, '');

/** Fails with `late` if the source isn't complete after so long, in milliseconds. */
export const wholeWithin =
  (ms: number, late: () => Error) =>
  (source: Answer): Answer =>
    new Observable((subscriber) => {
      subscriber.add(timer(ms).subscribe(() => subscriber.error(late())));
      subscriber.add(source.subscribe(subscriber));
    });

/** Ends with the stage's work: then it fails, so that what awaits it ends, too. */
const endWith = (life: StageLife, name: string, place: string, source: Answer): Answer =>
  new Observable((subscriber) => {
    const end = (): void => subscriber.error(stageFailure(name, place, 'the request was over'));
    if (life.isOver) {
      end();
      return;
    }
    life.whenOver(end);
    subscriber.add(source.subscribe(subscriber));
  });
