import {
  catchError,
  defer,
  identity,
  type MonoTypeOperatorFunction,
  map,
  mergeMap,
  of,
  pipe,
  take,
  throwError,
  timeout,
  toArray,
} from 'rxjs';
import { type Answered, fill, type Reconciled } from '../exchange.ts';
import { requestProblem } from '../model/checked/check-request.ts';
import { copyOf } from '../model/checked/copy.ts';
import { recordStageLosses } from '../model/checked/record-stage-losses.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { type Fault, stageFault } from '../model/fault.ts';
import type { Losses } from '../model/loss.ts';
import type { Running } from '../model/machine.ts';
import type { ModelRequest } from '../model/request.ts';
import { type Layer, requestStagesOf } from '../routing/plan/build-graph.ts';
import { inStep, stageStep } from '../runtime/loop-watch.ts';
import { runCustomStage } from './run-custom-stage.ts';
import type { SequenceStep } from './rx/sequence.ts';
import { nonEmpty, type OperatorStage, type StageGroup, type StreamStage, stages } from './rx/stages.ts';
import { isLeftOut, mayBeLeftOut, orInput, orUnchanged, type Report } from './skip-stage.ts';
import { machineContext, stageContext } from './stage-context.ts';
import { limitOf, type StageGateway } from './stage-parts.ts';
import { validateOrder } from './validate-order.ts';

/**
 * Runs these request stages, or else all of the plan, in list order. Throws `stage-failed`, with the stage's name, if one fails.
 */
export const transformRequest =
  (gateway: StageGateway, only?: Layer['requestStages']): SequenceStep<Reconciled, Reconciled> =>
  (routed) => {
    const { plan, request } = routed;
    return (only ?? requestStagesOf(plan.graph))
      .reduce((asked, node) => asked.pipe(runRequestStage(routed, node, gateway)), of(request))
      .pipe(map((changed) => fill(routed, { request: changed })));
  };

const runRequestStage = (
  routed: Reconciled,
  node: Layer['requestStages'][number],
  gateway: StageGateway,
): MonoTypeOperatorFunction<ModelRequest> => {
  const run = requestHalf(routed, node, gateway);
  return mayBeLeftOut(node) ? orUnchanged(routed, node, run) : run;
};

const requestHalf = (
  routed: Reconciled,
  node: Layer['requestStages'][number],
  gateway: StageGateway,
): MonoTypeOperatorFunction<ModelRequest> => {
  const { name, work: stage } = node;
  const losses = routed.context.losses.at(name);
  if (!stage.custom) return runFunction(name, (request) => stage.run(request, losses));
  const context = stageContext(routed, node, gateway);
  const run =
    stage.form === 'operator'
      ? awaitRequest(name, (source) => stage.run(source, context), limitOf(node, gateway))
      : runFunction(name, (request) => stage.run(request, losses, context));
  return guardRequest(name, run, losses);
};

const runFunction = (
  name: string,
  run: (request: ModelRequest) => ModelRequest,
): MonoTypeOperatorFunction<ModelRequest> =>
  map((request) => {
    try {
      return inStep(stageStep(name), () => run(request));
    } catch (error) {
      throw stageFault(name, 'failed on the request', error);
    }
  });

/**
 * Runs a custom stage on a copy, since each attempt begins with the same request whatever a stage does to its own. Checks the result, and
 * records what it lacks as losses. Throws `stage-failed`, with the stage's name and the place, if it isn't a request.
 */
const guardRequest =
  (name: string, run: MonoTypeOperatorFunction<ModelRequest>, losses: Losses): MonoTypeOperatorFunction<ModelRequest> =>
  (source) =>
    source.pipe(
      mergeMap((before) =>
        of(copyOf(before)).pipe(
          run,
          map((after) => {
            const problem = inStep(stageStep(name), () => problemOf(after));
            if (problem !== undefined) throw stageFault(name, problem);
            recordStageLosses(before, after, losses);
            return after;
          }),
        ),
      ),
    );

const problemOf = (value: unknown): string | undefined => {
  if (value instanceof Promise) return 'returned a promise instead of a request; asynchronous work is for operators';
  if (value === undefined) return 'returned nothing instead of a request';
  const problem = requestProblem(value);
  return problem && `returned an invalid request: ${problem.path || 'a request'} ${problem.message}`;
};

/**
 * Runs a custom stage's operator on the request. It must emit exactly one request and complete within the limit, in
 * milliseconds. Throws `stage-failed`, with the stage's name, otherwise or if the operator fails.
 */
const awaitRequest =
  (
    name: string,
    operator: MonoTypeOperatorFunction<ModelRequest>,
    limitMs: number,
  ): MonoTypeOperatorFunction<ModelRequest> =>
  (source) =>
    defer(() => source.pipe(operator, take(2), toArray())).pipe(
      timeout({
        first: limitMs,
        with: () => throwError(() => stageFault(name, `did not finish with the request within ${limitMs} ms`)),
      }),
      map((requests) => {
        const [request, ...others] = requests;
        if (request === undefined) throw stageFault(name, 'returned no request');
        if (others.length > 0) throw stageFault(name, 'returned more than one request');
        return request;
      }),
      catchError((error: unknown) => throwError(() => stageFault(name, 'failed on the request', error))),
    );

/**
 * Event stages, in reverse list order. A stage's failure becomes an `error` event that names the stage; so does an operator that takes
 * longer than its limit for a batch.
 */
export const transformEvents = (nodes: Layer['eventStages'], gateway: StageGateway): StageGroup<Answered, Batch> => ({
  group: nodes.map((node) => eventStage(node, gateway)),
});

const eventStage = (
  node: Layer['eventStages'][number],
  gateway: StageGateway,
): StreamStage<Answered, Batch, Batch> | OperatorStage<Answered, Batch> => {
  /** Reports the failure with its cause; returns the fault for the client, without it. */
  const report =
    ({ listener }: Answered): Report =>
    ({ fault, cause }) => {
      listener.stageFailed?.(fault, cause);
      return fault;
    };
  if (!mayBeLeftOut(node)) return eventHalf(node, gateway, report);
  return {
    operator(answered) {
      if (isLeftOut(answered, node)) return identity;
      const run = (failed: Report) => stages({ group: [eventHalf(node, gateway, () => failed)] })(answered);
      return orInput(answered, node, { run, report: report(answered) });
    },
  };
};

const eventHalf = (
  node: Layer['eventStages'][number],
  gateway: StageGateway,
  reportOf: (answered: Answered) => Report,
): StreamStage<Answered, Batch, Batch> | OperatorStage<Answered, Batch> => {
  const { name, work: stage } = node;
  const limitMs = limitOf(node, gateway);
  const late = (what: string): Error => stageFault(name, what);
  const failed =
    (answered: Answered) =>
    (error: unknown): Fault =>
      reportOf(answered)(stageFault(name, 'failed on the answer', error));
  if (!stage.custom) return runStage(name, (answered) => stage.run.start(answered.context), failed);
  return {
    operator(answered) {
      const report = failed(answered);
      return pipe(
        stage.form === 'machine'
          ? stages(runStage(name, () => stage.run.start(machineContext(answered, node, gateway)), failed))(answered)
          : runCustomStage((source) => stage.run(source, stageContext(answered, node, gateway)), {
              limitMs,
              late,
              failed: report,
            }),
        validateOrder(answered.context, (what) => report(late(what))),
      );
    },
  };
};

/** Runs a stage's machine. If it throws, the answer ends in an `error` event after the machine's output so far. */
const runStage =
  (
    name: string,
    start: (answered: Answered) => Running<ModelEvent, ModelEvent>,
    failed: (answered: Answered) => (error: unknown) => Fault,
  ): StreamStage<Answered, Batch, Batch> =>
  (answered) => {
    let running: Running<ModelEvent, ModelEvent> | undefined;
    let broken = false;
    const guarded = (work: (running: Running<ModelEvent, ModelEvent>, out: ModelEvent[]) => void) => {
      const out: ModelEvent[] = [];
      if (broken) return undefined;
      try {
        running ??= start(answered);
        work(running, out);
      } catch (error) {
        broken = true;
        out.push({ type: 'error', fault: failed(answered)(error) });
      }
      return nonEmpty(out);
    };
    return {
      step: stageStep(name),
      next: (batch) =>
        guarded((running, out) => {
          for (const event of batch) running.step(event, out);
        }),
      end: () => guarded((running, out) => running.end(out)),
    };
  };
