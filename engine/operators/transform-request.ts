import { catchError, defer, type MonoTypeOperatorFunction, map, of, take, throwError, timeout, toArray } from 'rxjs';
import { fill, type Reconciled } from '../exchange.ts';
import { stageFault } from '../model/fault.ts';
import type { ModelRequest } from '../model/request.ts';
import type { Gateway } from '../routing/gateway.ts';
import type { RequestStage } from '../routing/plan/build-stages.ts';
import type { SequenceStep } from './rx/sequence.ts';

/** Runs each request stage, in list order. Throws `stage-failed`, with the stage's name, if one fails. */
export const transformRequest =
  ({ config }: Gateway): SequenceStep<Reconciled, Reconciled> =>
  (routed) => {
    const { plan, request } = routed;
    const stages = plan.graph.requestStages;
    if (stages.length === 0) return routed;
    return stages
      .reduce(
        (asked, { name, work }) => asked.pipe(runRequestStage(routed, name, work, config.timeouts.stageMs)),
        of(request),
      )
      .pipe(map((changed) => fill(routed, { request: changed })));
  };

const runRequestStage = ({ context }: Reconciled, name: string, stage: RequestStage, limitMs: number) =>
  stage.form === 'operator'
    ? awaitRequest(name, stage.run, limitMs)
    : map((request: ModelRequest) => {
        try {
          return asRequest(stage.run(request, context.losses.at(name)));
        } catch (error) {
          throw stageFault(name, 'failed on the request', error);
        }
      });

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
        if (request === undefined) throw stageFault(name, 'gave no request');
        if (others.length > 0) throw stageFault(name, 'gave more than one request');
        return asRequest(request);
      }),
      catchError((error: unknown) => throwError(() => stageFault(name, 'failed on the request', error))),
    );

/** The stage's result, checked to be a request. A custom module may return a promise or nothing. */
const asRequest = (value: unknown): ModelRequest => {
  if (isRequest(value)) return value;
  throw new TypeError(
    `the stage gave ${value instanceof Promise ? 'a promise' : 'something else'} instead of a request`,
  );
};

/** Checks only the members that every step relies on. */
const isRequest = (value: unknown): value is ModelRequest =>
  typeof value === 'object' &&
  value !== null &&
  'turns' in value &&
  Array.isArray(value.turns) &&
  'system' in value &&
  Array.isArray(value.system) &&
  'tools' in value &&
  Array.isArray(value.tools) &&
  'stream' in value &&
  typeof value.stream === 'boolean';
