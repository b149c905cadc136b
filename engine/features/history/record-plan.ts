import { map, tap } from 'rxjs';
import type { ReplyContext } from '../../model/context.ts';
import type { ModelEvent } from '../../model/event.ts';
import type { Machine } from '../../model/machine.ts';
import type { Gateway } from '../../routing/gateway.ts';
import {
  type AroundStage,
  type EventStage,
  type RequestStage,
  tapAroundStage,
  tapRequestStage,
} from '../../routing/plan/build-stages.ts';
import type { Plan } from '../../routing/plan/plan.ts';
import type { UpstreamAnswer, Upstreams } from '../../upstream/upstreams.ts';
import type { RecordedCall, Recorder } from './recorder.ts';

/** Wraps a plan so that the output of each stage is recorded; behaviour is unchanged. */
const recordPlan = (plan: Plan, recorder: Recorder): Plan => {
  const { graph } = plan;
  const { decodeStream, decodeReply } = graph;
  return {
    ...plan,
    graph: {
      ...graph,
      layers: graph.layers.map(({ requestStages, eventStages, around }) => ({
        requestStages: requestStages.map((node) => ({ ...node, work: tapRequest(node.name, node.work, recorder) })),
        eventStages: eventStages.map((node) => ({ ...node, work: tapEvents(node.name, node.work, recorder) })),
        ...(around && { around: { ...around, work: tapAround(around.name, around.work, recorder) } }),
      })),
      decodeStream: {
        ...decodeStream,
        work: tapMachine(decodeStream.work, (events) => recorder.gave('decode', events)),
      },
      decodeReply: {
        ...decodeReply,
        work(body, context) {
          const events = decodeReply.work(body, context);
          recorder.gave('decode', events);
          return events;
        },
      },
    },
  };
};

const tapRequest = (name: string, stage: RequestStage, recorder: Recorder): RequestStage =>
  tapRequestStage(stage, { seen: (_, after) => recorder.step(name, 'stage', after) });

const tapEvents = (name: string, stage: EventStage, recorder: Recorder): EventStage => {
  const onEvents = (events: readonly ModelEvent[]): void => recorder.gave(name, events);
  if (stage.form === 'machine') {
    return stage.custom
      ? { ...stage, run: tapMachine(stage.run, onEvents) }
      : { ...stage, run: tapMachine(stage.run, onEvents) };
  }
  return {
    ...stage,
    run: (source, context) =>
      stage.run(source, context).pipe(
        tap((batch) => {
          // A custom module may emit anything; a later check reports invalid batches.
          if (Array.isArray(batch)) onEvents(batch);
        }),
      ),
  };
};

/** Records the request that the stage passes on first, and the answer that it gives. */
const tapAround = (name: string, stage: AroundStage, recorder: Recorder): AroundStage => {
  let isFirst = true;
  return tapAroundStage(stage, {
    asked(_, request) {
      if (isFirst) recorder.step(name, 'stage', request);
      isFirst = false;
    },
    gave: (events) => recorder.gave(name, events),
  });
};

const tapMachine = <I, C extends ReplyContext>(
  machine: Machine<I, ModelEvent, C>,
  onEvents: (events: readonly ModelEvent[]) => void,
): Machine<I, ModelEvent, C> => ({
  start(context) {
    const running = machine.start(context);
    const through = (out: ModelEvent[], work: () => void): void => {
      const from = out.length;
      work();
      onEvents(out.slice(from));
    };
    return {
      step: (input, out) => through(out, () => running.step(input, out)),
      end: (out) => through(out, () => running.end(out)),
      settled: () => running.settled?.() ?? false,
    };
  },
});

/** Wraps a gateway for one captured request: records its plans and upstream calls. */
export const recordGateway = (gateway: Gateway, recorder: Recorder): Gateway => ({
  ...gateway,
  upstreams: recordUpstreams(gateway.upstreams, recorder),
  planFor: (key) => recordPlan(gateway.planFor(key), recorder),
  // A capture shows the whole request.
  likelyRelays: () => false,
});

/** Wraps upstreams so that calls and answers are recorded. */
const recordUpstreams = (upstreams: Upstreams, recorder: Recorder): Upstreams => ({
  ...upstreams,
  call(call) {
    const recorded = recorder.recordCall(call);
    return upstreams.call(call).pipe(
      map((answer) => tapAnswer(answer, recorded, recorder)),
      tap({ error: (error: unknown) => recorder.ended(recorded, error) }),
    );
  },
});

const tapAnswer = (answer: UpstreamAnswer, recorded: RecordedCall, recorder: Recorder): UpstreamAnswer => {
  recorder.mark('upstreamHead');
  recorded.status = answer.status;
  recorded.responseHeaders = answer.headers;
  return {
    ...answer,
    drain() {
      recorder.ended(recorded);
      answer.drain();
    },
    body: answer.body.pipe(
      tap({
        next: (bytes) => recorder.piece(recorded, bytes),
        error: (error: unknown) => recorder.ended(recorded, error),
        complete: () => recorder.ended(recorded),
      }),
    ),
  };
};
