import { type MonoTypeOperatorFunction, pipe } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { Fault } from '../model/fault.ts';
import { stageFailed } from '../stage-failed.ts';
import type { EventsHalf } from '../yard/halves.ts';
import type { Yard } from '../yard/yard.ts';
import { keepOrder } from './keep-order.ts';
import type { Batch } from './read-events.ts';
import { runGuarded } from './run-guarded.ts';
import { runOperatorHalf } from './run-operator-half.ts';

/** Each stage's events half, in reverse list order. What goes wrong in one becomes an `error` event in its place, with its name. */
export const transformEvents = (answered: Answered, yard: Yard): MonoTypeOperatorFunction<Batch> =>
  answered.line.graph.eventsHalves.reduce<MonoTypeOperatorFunction<Batch>>(
    (before, { name, work }) => pipe(before, runHalf(answered, yard, name, work)),
    (source) => source,
  );

const runHalf = (answered: Answered, yard: Yard, name: string, half: EventsHalf): MonoTypeOperatorFunction<Batch> => {
  const failed = (error: unknown): Fault => report(answered, yard, name, error);
  const late = (what: string): Error => stageFailed(name, what);
  const running =
    half.form === 'machine'
      ? runGuarded(half.run, answered.context, failed)
      : runOperatorHalf(half.run, { limitMs: yard.config.timeouts.stageMs, late, failed });
  return half.foreign
    ? pipe(
        running,
        keepOrder(answered.context, (what) => failed(late(what))),
      )
    : running;
};

/** The fault that the client is told; its cause is for the log alone. */
const report = ({ id }: Answered, { log }: Yard, name: string, error: unknown): Fault => {
  const { fault, cause } = stageFailed(name, 'failed on the answer', error);
  log.error(fault.message, { requestId: id, kind: fault.kind, stack: cause instanceof Error ? cause.stack : cause });
  return fault;
};
