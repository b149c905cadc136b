import { type MonoTypeOperatorFunction, pipe, tap } from 'rxjs';
import type { ModelEvent } from '../model/event.ts';
import type { Machine } from '../model/machine.ts';
import type { EventsHalf, RequestHalf } from '../yard/halves.ts';
import type { Line } from '../yard/line.ts';
import type { Recorder } from './recorder.ts';

/** A line whose nodes tell the recorder what they give; otherwise it does what the plain one does. */
export const tapLine = (line: Line, recorder: Recorder): Line => {
  const { graph } = line;
  const { decodeStream, decodeReply } = graph;
  return {
    ...line,
    graph: {
      ...graph,
      requestHalves: graph.requestHalves.map((node) => ({ ...node, work: tapRequest(node.name, node.work, recorder) })),
      eventsHalves: graph.eventsHalves.map((node) => ({ ...node, work: tapEvents(node.name, node.work, recorder) })),
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

const tapRequest = (name: string, half: RequestHalf, recorder: Recorder): RequestHalf => {
  if (half.form === 'operator') {
    return {
      form: 'operator',
      run: pipe(
        half.run,
        tap((request) => recorder.step(name, 'stage', request)),
      ),
    };
  }
  return {
    form: 'function',
    run(request, losses) {
      const changed = half.run(request, losses);
      recorder.step(name, 'stage', changed);
      return changed;
    },
  };
};

const tapEvents = (name: string, half: EventsHalf, recorder: Recorder): EventsHalf => {
  const saw = (events: readonly ModelEvent[]): void => recorder.gave(name, events);
  if (half.form === 'machine') return { ...half, run: tapMachine(half.run, saw) };
  const watched: MonoTypeOperatorFunction<readonly ModelEvent[]> = pipe(
    half.run,
    tap((batch) => {
      // A module of somebody else's may give anything; it is told where its batch is checked.
      if (Array.isArray(batch)) saw(batch);
    }),
  );
  return { ...half, run: watched };
};

const tapMachine = <I>(
  machine: Machine<I, ModelEvent>,
  saw: (events: readonly ModelEvent[]) => void,
): Machine<I, ModelEvent> => ({
  start(context) {
    const running = machine.start(context);
    const through = (out: ModelEvent[], work: () => void): void => {
      const from = out.length;
      work();
      saw(out.slice(from));
    };
    return {
      step: (input, out) => through(out, () => running.step(input, out)),
      end: (out) => through(out, () => running.end(out)),
    };
  },
});
