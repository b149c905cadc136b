import {
  catchError,
  type MonoTypeOperatorFunction,
  mergeMap,
  Observable,
  of,
  Subject,
  type Subscriber,
  Subscription,
} from 'rxjs';
import { type Answered, fill, type Routed } from '../exchange.ts';
import type { Batch } from '../model/event.ts';
import { type Fault, FaultError } from '../model/fault.ts';
import type { ModelRequest } from '../model/request.ts';
import { AnswerReservation, contentLength } from './bound-answer.ts';
import { endStage } from './stage-context.ts';
import type { StageOf } from './stage-parts.ts';

// Entries with `"onError": "skip"`: a stage that fails is left out of the attempt, with all of its halves.

/** Whether the entry says to go on without the stage when it fails. */
export const mayBeLeftOut = ({ about }: StageOf): boolean => about.onError === 'skip';

/** Whether a half of the stage has failed in this attempt, so that its other halves don't run either. */
export const isLeftOut = ({ leftOut }: Routed, { position }: StageOf): boolean => leftOut?.has(position) ?? false;

/** Whether the stage has failed. What it refuses or passes over on purpose has a fault of another kind, and counts. */
export const isFailure = (error: unknown): error is FaultError =>
  error instanceof FaultError && error.fault.kind === 'stage-failed';

/**
 * Leaves a stage out of the rest of the attempt: logs the failure, and records the stage as lost in place of what it has recorded
 * since there were `since` losses.
 */
export const leaveOut = (routed: Routed, stage: StageOf, { fault, cause }: FaultError, since: number): void => {
  const { name, position, about } = stage;
  const { leftOut = [], listener, context } = routed;
  fill(routed, { leftOut: new Set([...leftOut, position]) });
  endStage(routed, stage);
  const losses = context.losses.at(name);
  losses.forget(since);
  losses.dropClientPath(about.entry ?? name, `the stage failed and was left out: ${fault.message}`);
  const said = fault.message.endsWith('.') ? fault.message : `${fault.message}.`;
  listener.stageFailed?.({ ...fault, message: `${said} It was left out, as its entry says.` }, cause);
};

/** Runs a request half; if it fails, the request stays as it was before it. */
export const orUnchanged =
  (
    routed: Routed,
    stage: StageOf,
    run: MonoTypeOperatorFunction<ModelRequest>,
  ): MonoTypeOperatorFunction<ModelRequest> =>
  (source) =>
    source.pipe(
      mergeMap((before) => {
        const since = routed.context.losses.size;
        return of(before).pipe(
          run,
          catchError((error: unknown) => {
            if (!isFailure(error)) throw error;
            leaveOut(routed, stage, error, since);
            return of(before);
          }),
        );
      }),
    );

/** Returns the fault of a stage's failure, for the `error` event that ends its answer. */
export type Report = (failure: FaultError) => Fault;

interface AnswerOfStage {
  /**
   * Runs the stage. A failure is reported, and its fault is the stage's last event. `leave` goes on without the stage, if it isn't needed
   * yet; returns whether it does.
   */
  readonly run: (report: Report, leave: () => boolean) => Observable<Batch>;
  /** Reports a failure that ends the answer. */
  readonly report: Report;
  /** The answer without the stage; `undefined`: the stage is needed by now. */
  readonly rest: () => Observable<Batch> | undefined;
  /** Called when the stage gives its first events. */
  readonly given?: () => void;
}

/** The answer of a stage; if it fails before it has given any events, the answer without it. */
export const orWithout = (
  answered: Answered,
  stage: StageOf,
  { run, report, rest, given }: AnswerOfStage,
): Observable<Batch> =>
  new Observable((subscriber) => {
    const since = answered.context.losses.size;
    let isGiven = false;
    let failure: FaultError | undefined;
    const running = new Subscription();
    subscriber.add(running);
    /** Goes on without the stage, if it hasn't given any events. */
    const leave = (failed?: FaultError): boolean => {
      const without = isGiven || running.closed ? undefined : rest();
      if (!without) return false;
      running.unsubscribe();
      if (failed) leaveOut(answered, stage, failed, since);
      subscriber.add(without.subscribe(subscriber));
      return true;
    };
    const goesOn = (failed: FaultError): boolean => {
      const isLeft = isFailure(failed) && leave(failed);
      if (!isLeft) report(failed);
      return isLeft;
    };
    running.add(
      run(
        (failed) => {
          failure = failed;
          return failed.fault;
        },
        () => leave(),
      ).subscribe({
        next(batch) {
          if (running.closed) return;
          const failed = failure;
          const isEnd = batch.some((event) => event.type === 'error' && event.fault === failed?.fault);
          if (failed && isEnd && goesOn(failed)) return;
          if (!isGiven && batch.length > 0) {
            isGiven = true;
            given?.();
          }
          subscriber.next(batch);
        },
        error(error: unknown) {
          if (!running.closed) subscriber.error(error);
        },
        complete() {
          if (!running.closed) subscriber.complete();
        },
      }),
    );
  });

/** Maximum buffered input of a stage's event half, in bytes. A stage that emits nothing for longer can't be left out. */
const maxBufferedBytes = 4 << 20;
/** Estimated memory of an event besides its content, in bytes. */
const bytesPerEvent = 64;

/**
 * Runs an event half; if it fails before it has given any events, or the request half has failed before the answer began, the answer goes on
 * as the half got it.
 */
export const orInput =
  (
    answered: Answered,
    stage: StageOf,
    { run, report }: { readonly run: (report: Report) => MonoTypeOperatorFunction<Batch>; readonly report: Report },
  ): MonoTypeOperatorFunction<Batch> =>
  (source) =>
    new Observable((subscriber) => {
      const buffered = new BufferedInput(source, new AnswerReservation(answered.answerMemory));
      subscriber.add(() => buffered.close());
      subscriber.add(
        orWithout(answered, stage, {
          run(failed, leave) {
            // Within the stages that are around the call, the request half runs when the answer is subscribed to.
            buffered.begun = () => isLeftOut(answered, stage) && leave();
            return run(failed)(buffered.input);
          },
          report,
          rest: () => buffered.rest,
          given: () => buffered.release(),
        }).subscribe(subscriber),
      );
      // An answer's body comes whether it is read or not.
      buffered.open();
    });

/** The input of an event half. Its beginning is buffered until the half has given something, and for one that reads it later. */
class BufferedInput {
  readonly #source: Observable<Batch>;
  readonly #memory: AnswerReservation;
  /** To the stage, and to what takes its place. */
  readonly #out = new Subject<Batch>();
  readonly #subscription = new Subscription();
  #buffered: Batch[] = [];
  #bytes = 0;
  #isOpen = false;
  /** Called once when the input begins or ends; returns whether the stage is left by that. */
  begun: (() => boolean) | undefined;
  /** The beginning isn't needed for what may take the stage's place. */
  #isReleased = false;
  #wasRead = false;
  #readers = 0;

  constructor(source: Observable<Batch>, memory: AnswerReservation) {
    this.#source = source;
    this.#memory = memory;
  }

  /** All of the input. */
  get input(): Observable<Batch> {
    return new Observable((subscriber) => this.#read(subscriber));
  }

  /** The same, for what takes the stage's place; `undefined` once its beginning isn't buffered. */
  get rest(): Observable<Batch> | undefined {
    if (this.#isReleased) return undefined;
    return new Observable((subscriber) => {
      this.#isReleased = true;
      this.#read(subscriber);
    });
  }

  #read(subscriber: Subscriber<Batch>): void {
    const buffered = this.#buffered;
    this.#wasRead = true;
    this.#readers += 1;
    subscriber.add(() => {
      this.#readers -= 1;
      this.#closeUnread();
    });
    if (this.#isReleased) this.#drop();
    for (const batch of [...buffered]) subscriber.next(batch);
    subscriber.add(this.#out.subscribe(subscriber));
    this.open();
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#subscription.add(
      this.#source.subscribe({
        next: (batch) => {
          this.#buffer(batch);
          if (!this.#begins()) this.#out.next(batch);
        },
        error: (error: unknown) => {
          this.#begins();
          this.#out.error(error);
        },
        complete: () => {
          this.#begins();
          this.#out.complete();
        },
      }),
    );
  }

  #begins(): boolean {
    const { begun } = this;
    this.begun = undefined;
    return begun?.() ?? false;
  }

  /** The stage has given something. */
  release(): void {
    this.#isReleased = true;
    if (this.#wasRead) this.#drop();
    this.#closeUnread();
  }

  close(): void {
    this.#subscription.unsubscribe();
    this.#drop();
  }

  #drop(): void {
    this.#buffered = [];
    this.#memory.set(0);
  }

  #buffer(batch: Batch): void {
    if (this.#isReleased && this.#wasRead) return;
    for (const event of batch) this.#bytes += contentLength(event) + bytesPerEvent;
    if (this.#bytes <= maxBufferedBytes && this.#memory.tryReserve(this.#bytes)) this.#buffered.push(batch);
    else {
      this.#wasRead = true;
      this.#isReleased = true;
      this.#drop();
    }
  }

  /** A stage may leave its input early; what may take its place still needs it. */
  #closeUnread(): void {
    if (this.#isReleased && this.#wasRead && this.#readers === 0) this.#subscription.unsubscribe();
  }
}
