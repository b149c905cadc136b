import { type MonoTypeOperatorFunction, pipe } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { ReplyContext } from '../model/context.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { type Fault, stageFault } from '../model/fault.ts';
import type { Machine, Running } from '../model/machine.ts';
import type { Gateway } from '../routing/gateway.ts';
import type { EventStage } from '../routing/plan/build-stages.ts';
import { runCustomStage } from './run-custom-stage.ts';
import { operate } from './rx/operate.ts';
import { nonEmpty } from './rx/run-machine.ts';
import { validateOrder } from './validate-order.ts';

/** Runs each event stage, in reverse list order. A stage's failure becomes an `error` event that names the stage. */
export const transformEvents = (answered: Answered, gateway: Gateway): MonoTypeOperatorFunction<Batch> =>
  answered.plan.graph.eventStages.reduce<MonoTypeOperatorFunction<Batch>>(
    (before, { name, work }) => pipe(before, runEventStage(answered, gateway, name, work)),
    (source) => source,
  );

const runEventStage = (
  answered: Answered,
  gateway: Gateway,
  name: string,
  stage: EventStage,
): MonoTypeOperatorFunction<Batch> => {
  const failed = (error: unknown): Fault => logFailure(answered, gateway, name, error);
  const late = (what: string): Error => stageFault(name, what);
  const running =
    stage.form === 'machine'
      ? runStage(stage.run, answered.context, failed)
      : runCustomStage(stage.run, { limitMs: gateway.config.timeouts.stageMs, late, failed });
  return stage.custom
    ? pipe(
        running,
        validateOrder(answered.context, (what) => failed(late(what))),
      )
    : running;
};

/** Logs the failure with its cause; returns the fault for the client, without it. */
const logFailure = ({ id }: Answered, { log }: Gateway, name: string, error: unknown): Fault => {
  const { fault, cause } = stageFault(name, 'failed on the answer', error);
  log.error(fault.message, { requestId: id, kind: fault.kind, stack: cause instanceof Error ? cause.stack : cause });
  return fault;
};

/** Runs a stage's machine. If it throws, the answer ends in an `error` event after the machine's output so far. */
const runStage = (
  machine: Machine<ModelEvent, ModelEvent>,
  context: ReplyContext,
  failed: (error: unknown) => Fault,
): MonoTypeOperatorFunction<Batch> =>
  operate(() => {
    let running: Running<ModelEvent, ModelEvent> | undefined;
    let broken = false;
    const guarded = (work: (running: Running<ModelEvent, ModelEvent>, out: ModelEvent[]) => void) => {
      const out: ModelEvent[] = [];
      if (broken) return undefined;
      try {
        running ??= machine.start(context);
        work(running, out);
      } catch (error) {
        broken = true;
        out.push({ type: 'error', fault: failed(error) });
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
  });
