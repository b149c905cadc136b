import { identity, pipe } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { type Fault, stageFault } from '../model/fault.ts';
import type { Machine, Running } from '../model/machine.ts';
import type { EventStage } from '../routing/plan/build-stages.ts';
import type { Plan } from '../routing/plan/plan.ts';
import { runCustomStage } from './run-custom-stage.ts';
import { nonEmpty } from './rx/run-machine.ts';
import { type OperatorStage, type StageGroup, type StreamStage, stages } from './rx/stages.ts';
import { validateOrder } from './validate-order.ts';

/**
 * A plan's event stages, in reverse list order. A stage's failure becomes an `error` event that names the stage. `limitMs`: how
 * long an operator may take for a batch.
 */
export const transformEvents = ({ graph }: Plan, limitMs: number): StageGroup<Answered, Batch> => ({
  group: graph.eventStages.map(({ name, work }) => eventStage(name, work, limitMs)),
});

const eventStage = (
  name: string,
  stage: EventStage,
  limitMs: number,
): StreamStage<Answered, Batch, Batch> | OperatorStage<Answered, Batch> => {
  const late = (what: string): Error => stageFault(name, what);
  /** Reports the failure with its cause; returns the fault for the client, without it. */
  const failed =
    ({ observer }: Answered) =>
    (error: unknown): Fault => {
      const { fault, cause } = stageFault(name, 'failed on the answer', error);
      observer.stageFailed(fault, cause);
      return fault;
    };
  if (stage.form === 'machine' && !stage.custom) return runStage(stage.run, failed);
  return {
    operator(answered) {
      const report = failed(answered);
      return pipe(
        stage.form === 'machine'
          ? stages(runStage(stage.run, failed))(answered)
          : runCustomStage(stage.run, { limitMs, late, failed: report }),
        stage.custom ? validateOrder(answered.context, (what) => report(late(what))) : identity,
      );
    },
  };
};

/** Runs a stage's machine. If it throws, the answer ends in an `error` event after the machine's output so far. */
const runStage =
  (
    machine: Machine<ModelEvent, ModelEvent>,
    failed: (answered: Answered) => (error: unknown) => Fault,
  ): StreamStage<Answered, Batch, Batch> =>
  (answered) => {
    let running: Running<ModelEvent, ModelEvent> | undefined;
    let broken = false;
    const guarded = (work: (running: Running<ModelEvent, ModelEvent>, out: ModelEvent[]) => void) => {
      const out: ModelEvent[] = [];
      if (broken) return undefined;
      try {
        running ??= machine.start(answered.context);
        work(running, out);
      } catch (error) {
        broken = true;
        out.push({ type: 'error', fault: failed(answered)(error) });
      }
      return nonEmpty(out);
    };
    return {
      next: (batch) =>
        guarded((running, out) => {
          for (const event of batch) running.step(event, out);
        }),
      end: () => guarded((running, out) => running.end(out)),
    };
  };
