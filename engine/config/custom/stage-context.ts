import { AsyncLocalStorage } from 'node:async_hooks';
import { type MonoTypeOperatorFunction, Observable, type OperatorFunction } from 'rxjs';
import type { Machine, Running } from '../../model/machine.ts';
import { inStep, stageStep } from '../../runtime/loop-watch.ts';
import type { OpenStage } from './transformer.ts';

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
  const { name, request, events, call, operators } = stage;
  const operator = <T>(half: MonoTypeOperatorFunction<T>) => operatorWithin(name, half);
  return {
    name,
    ...(request && { request: (...given) => asStage(name, () => request.call(stage, ...given)) }),
    ...(events && { events: machineWithin(name, events) }),
    ...(call && { call: (sent) => asStage(name, () => call.call(stage, sent)) }),
    ...(operators && {
      operators: {
        ...(operators.request && { request: operator(operators.request) }),
        ...(operators.events && { events: operator(operators.events) }),
      },
    }),
  };
};

const machineWithin = <I, O>(name: string, machine: Machine<I, O>): Machine<I, O> => ({
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
const border =
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
