import { type MonoTypeOperatorFunction, map, tap } from 'rxjs';
import { bytesOf } from '../../model/wire/sse.ts';
import type { AnswerChunk } from '../../model/wire/sse-record.ts';
import type { Gateway } from '../../routing/gateway.ts';
import type { Plan } from '../../routing/plan/plan.ts';
import { tapPlan } from '../../routing/plan/tap-plan.ts';
import type { UpstreamAnswer, Upstreams } from '../../upstream/upstreams.ts';
import type { RecordedCall, Recorder } from './recorder.ts';

/** Tells the recorder what each stage makes of a request, and the events that it gives. */
const recordPlan = (plan: Plan, recorder: Recorder): Plan => {
  const asked = new Set<string>();
  return tapPlan(plan, {
    request({ name, work }, _, after) {
      // Of the requests of a stage around the rest, only the first.
      if (work.form === 'around' && asked.has(name)) return;
      asked.add(name);
      recorder.step(name, 'stage', after);
    },
    events: (name, events) => recorder.gave(name, events),
  });
};

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
  const record = <C extends AnswerChunk>(): MonoTypeOperatorFunction<C> =>
    tap({
      next: (chunk) => recorder.piece(recorded, bytesOf(chunk)),
      error: (error: unknown) => recorder.ended(recorded, error),
      complete: () => recorder.ended(recorded),
    });
  return {
    ...answer,
    drain() {
      recorder.ended(recorded);
      answer.drain();
    },
    body: answer.body.pipe(record()),
    ...(answer.records && { records: answer.records.pipe(record()) }),
  };
};
