import { identity, mergeMap, type Observable, of, tap } from 'rxjs';
import { answerOf } from '../../config/custom/answers.ts';
import type { StageContext } from '../../config/custom/around.ts';
import { frozen } from '../../model/checked/copy.ts';
import type { ReplyContext } from '../../model/context.ts';
import type { Batch, ModelEvent } from '../../model/event.ts';
import type { Losses } from '../../model/loss.ts';
import type { Machine } from '../../model/machine.ts';
import type { ModelRequest } from '../../model/request.ts';
import type { Layer } from './build-graph.ts';
import type { AroundStage, EventStage, RequestStage } from './build-stages.ts';
import type { Plan } from './plan.ts';

/** A node whose requests are seen. */
type RequestNode = Layer['requestStages'][number] | NonNullable<Layer['around']>;

/** Callbacks for the intermediate values of a plan. */
export interface PlanTap {
  /** Called with what a stage got and what it has made of it; of a stage around the rest, with each request that it calls `next` with. */
  readonly request: (node: RequestNode, before: ModelRequest, after: ModelRequest) => void;
  /** Called with the events of the upstream's answer, under `decode`, and with those that each stage gives, under its name. */
  readonly events?: (name: string, events: Batch) => void;
  /** Custom stages get frozen requests, so that one that changes its request in place fails where it does so. */
  readonly frozen?: boolean;
}

type Seen = (before: ModelRequest, after: ModelRequest) => void;
type Gave = (events: Batch) => void;

/** Wraps a plan so that its work is seen; behaviour is unchanged. */
export const tapPlan = (plan: Plan, on: PlanTap): Plan => {
  const { graph } = plan;
  const { decodeStream, decodeReply } = graph;
  const seenAt =
    (node: RequestNode): Seen =>
    (before, after) =>
      on.request(node, before, after);
  const gaveAt = (name: string): Gave | undefined => on.events && ((events) => on.events?.(name, events));
  const given = (custom: boolean) => (on.frozen && custom ? frozen : identity<ModelRequest>);
  const decoded = gaveAt('decode');
  return {
    ...plan,
    graph: {
      ...graph,
      layers: graph.layers.map(({ requestStages, eventStages, around }) => ({
        requestStages: requestStages.map((node) => ({
          ...node,
          work: tapRequest(node.work, seenAt(node), given(node.work.custom)),
        })),
        eventStages: eventStages.map((node) => ({ ...node, work: tapEvents(node.work, gaveAt(node.name)) })),
        ...(around && {
          around: { ...around, work: tapAround(around.work, seenAt(around), given(true), gaveAt(around.name)) },
        }),
      })),
      decodeStream: { ...decodeStream, work: tapMachine(decodeStream.work, decoded) },
      decodeReply: {
        ...decodeReply,
        work(body, context) {
          const events = decodeReply.work(body, context);
          decoded?.(events);
          return events;
        },
      },
    },
  };
};

const tapRequest = (stage: RequestStage, seen: Seen, give: (request: ModelRequest) => ModelRequest): RequestStage => {
  const noted = (before: ModelRequest, after: ModelRequest): ModelRequest => {
    seen(before, after);
    return after;
  };
  if (stage.form === 'operator') {
    return {
      ...stage,
      run: (source: Observable<ModelRequest>, context: StageContext) =>
        source.pipe(
          mergeMap((before) => stage.run(of(give(before)), context).pipe(tap((after) => seen(before, after)))),
        ),
    };
  }
  return stage.custom
    ? {
        ...stage,
        run: (request: ModelRequest, losses: Losses, context: StageContext) =>
          noted(request, stage.run(give(request), losses, context)),
      }
    : { ...stage, run: (request: ModelRequest, losses: Losses) => noted(request, stage.run(give(request), losses)) };
};

const tapAround = (
  stage: AroundStage,
  asked: Seen,
  give: (request: ModelRequest) => ModelRequest,
  gave: Gave | undefined,
): AroundStage => ({
  ...stage,
  run(request, next, context) {
    const noted: typeof next = (changed, options) => {
      asked(request, changed);
      return next(changed, options);
    };
    const given = stage.run(give(request), noted, context);
    return gave ? answerOf(given).pipe(tapBatches(gave)) : given;
  },
});

const tapEvents = (stage: EventStage, gave: Gave | undefined): EventStage => {
  if (!gave) return stage;
  if (stage.form === 'operator')
    return { ...stage, run: (source, context) => stage.run(source, context).pipe(tapBatches(gave)) };
  return stage.custom ? { ...stage, run: tapMachine(stage.run, gave) } : { ...stage, run: tapMachine(stage.run, gave) };
};

/** A custom module may emit anything; a later check reports invalid batches. */
const tapBatches = (gave: Gave) =>
  tap((batch: Batch) => {
    if (Array.isArray(batch)) gave(batch);
  });

const tapMachine = <I, C extends ReplyContext>(
  machine: Machine<I, ModelEvent, C>,
  gave: Gave | undefined,
): Machine<I, ModelEvent, C> =>
  gave
    ? {
        start(context) {
          const running = machine.start(context);
          const through = (out: ModelEvent[], work: () => void): void => {
            const from = out.length;
            work();
            gave(out.slice(from));
          };
          return {
            step: (input, out) => through(out, () => running.step(input, out)),
            end: (out) => through(out, () => running.end(out)),
            settled: () => running.settled?.() ?? false,
          };
        },
      }
    : machine;
