import { AsyncLocalStorage } from 'node:async_hooks';
import { type MonoTypeOperatorFunction, Observable, type OperatorFunction } from 'rxjs';
import type { ReplyContext } from '../../model/context.ts';
import type { Batch } from '../../model/event.ts';
import type { Machine, Running } from '../../model/machine.ts';
import { inStep, stageStep } from '../../runtime/loop-watch.ts';
import { answerOf } from './answers.ts';
import type { Answer, Next } from './around.ts';
import type { OpenStage, StageOperator } from './transformer.ts';

/**
 * The name of the running custom stage, also in its timers, promises and sockets. Free until the first custom stage is loaded;
 * from then on Node.js 20 and 22 track every promise.
 */
const stageContext = new AsyncLocalStorage<string | undefined>();

/** The custom stage that caused the current execution; `undefined` for the gateway's own code. */
export const currentStage = (): string | undefined => stageContext.getStore();

/** Runs `work` under a custom stage's name. */
export const asStage = <T>(name: string, work: () => T): T => stageContext.run(name, work);

/** Wraps a stage so that its code runs under its name, and the gateway's code around it under none. */
export const withContext = (stage: OpenStage): OpenStage => {
  const { name, when, concerns, asks, request, events, call, operators, around } = stage;
  const operator =
    <T>(half: StageOperator<T>): StageOperator<T> =>
    (source, context) =>
      operatorWithin<T, T>(name, (inner) => half(inner, context))(source);
  return {
    name,
    ...(when && { when }),
    ...(asks && { asks }),
    ...(concerns && { concerns: (target) => asStage(name, () => concerns.call(stage, target)) }),
    ...(request && { request: (...given) => asStage(name, () => request.call(stage, ...given)) }),
    ...(events && { events: machineWithin(name, events) }),
    ...(call && { call: (...given) => asStage(name, () => call.call(stage, ...given)) }),
    ...(operators && {
      operators: {
        ...(operators.request && { request: operator(operators.request) }),
        ...(operators.events && { events: operator(operators.events) }),
      },
    }),
    ...(around && {
      around: (request, next, context) =>
        answerWithin(name, next, (inner) => around.call(stage, request, inner, context)),
    }),
  };
};

/** Runs a function around the rest under its name, and what it calls under none. */
const answerWithin = (name: string, next: Next, run: (next: Next) => Answer | Promise<Answer>): Answer =>
  border<Batch>(
    name,
    undefined,
  )(
    new Observable((subscriber) => {
      const given = run((request, options) => border<Batch>(undefined, name)(next(request, options)));
      return answerOf(given).subscribe(subscriber);
    }),
  );

const machineWithin = <I, O, C extends ReplyContext>(name: string, machine: Machine<I, O, C>): Machine<I, O, C> => ({
  ...machine,
  start(context) {
    const running: Running<I, O> = asStage(name, () => machine.start(context));
    return {
      step: (input, out) => asStage(name, () => running.step(input, out)),
      end: (out) => asStage(name, () => running.end(out)),
    };
  },
});

/** Wraps an operator so that its code runs under a name. */
export const operatorWithin =
  <In, Out>(name: string, operator: OperatorFunction<In, Out>): OperatorFunction<In, Out> =>
  (source) =>
    border<Out>(name, undefined)(asStage(name, () => operator(border<In>(undefined, name)(source))));

/** Runs work under a name, as a step of its own. */
const runAs = <T>(name: string | undefined, work: () => T): T =>
  inStep(name === undefined ? gatewayStep : stageStep(name), () => stageContext.run(name, work));

/** The gateway's own code behind a stage's operator. */
const gatewayStep = 'answer';

/** Runs the source under one name and the subscriber under another. */
export const border =
  <T>(above: string | undefined, below: string | undefined): MonoTypeOperatorFunction<T> =>
  (source) =>
    new Observable((subscriber) => {
      const subscription = runAs(above, () =>
        source.subscribe({
          next: (value) => runAs(below, () => subscriber.next(value)),
          error: (error: unknown) => runAs(below, () => subscriber.error(error)),
          complete: () => runAs(below, () => subscriber.complete()),
        }),
      );
      return () => runAs(above, () => subscription.unsubscribe());
    });
