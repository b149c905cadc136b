import { listen, type Outgoing } from '../listen.ts';
import { answerQuestions } from '../rpc.ts';
import { type Wire, wireAt, wires } from '../wire.ts';
import { wholeBody } from './answers.ts';
import { Pace } from './pace.ts';
import { type UpstreamPlan, wholeAnswer } from './plan.ts';
import type { UpstreamAnswer, UpstreamQuestion } from './start-upstream.ts';
import { stampNow, type Write, writesOf } from './writes.ts';

let plan: UpstreamPlan = wholeAnswer;
let pace = new Pace(1_000);
let writes: Partial<Record<Wire, readonly Write[]>> = {};
let wholes: Partial<Record<Wire, Buffer>> = {};
let keepNext = false;
let kept = '';

const take = (next: UpstreamPlan): void => {
  plan = next;
  pace.stop();
  pace = new Pace(next.intervalMs || 1_000);
  writes = {};
  wholes = {};
};

const sendWhole = (out: Outgoing, wire: Wire): void => {
  wholes[wire] ??= Buffer.from(wholeBody(wire, plan));
  const body = wholes[wire];
  out.together(() => {
    out.head(200, 'application/json');
    out.end(body);
  });
};

const sendStream = (out: Outgoing, wire: Wire): void => {
  writes[wire] ??= writesOf(wire, plan);
  const all = writes[wire];
  let next = 0;
  let taken = true;
  /** Each write under a cork of its own, so that each reaches the network by itself. */
  const write = (): void => {
    const due = all[next];
    next += 1;
    if (!due) return;
    stampNow(due);
    taken = out.write(due.bytes);
    if (next === all.length) out.end();
  };
  const step = (): boolean => {
    if (out.isOver) return false;
    out.together(write);
    return next < all.length;
  };
  const pump = (): void => {
    taken = true;
    for (let count = 0; count < 32 && taken; count += 1) if (!step()) return;
    if (taken) setImmediate(pump);
    else out.onWritable(() => setImmediate(pump));
  };
  out.together(() => out.head(200, 'text/event-stream; charset=utf-8'));
  if (plan.intervalMs > 0) pace.add({ step });
  // Not in the handler's own turn: there the listener would gather the writes into larger ones.
  else setImmediate(pump);
};

/** Plays a recorded answer, each chunk at its time. */
const sendRecorded = (out: Outgoing, { status, type, chunks }: NonNullable<UpstreamPlan['recorded']>): void => {
  let next = 0;
  const startedAt = performance.now();
  const step = (): void => {
    for (let due = chunks[next]; due && !out.isOver; due = chunks[next]) {
      const early = due.atMs - (performance.now() - startedAt);
      if (early > 1) {
        setTimeout(step, early);
        return;
      }
      next += 1;
      const bytes = Buffer.from(due.base64, 'base64');
      out.together(() => void out.write(bytes));
    }
    if (!out.isOver) out.together(() => out.end());
  };
  out.together(() => out.head(status, type));
  step();
};

const port = listen((path, body, out) => {
  const [pathname = ''] = path.split('?', 1);
  if (keepNext) kept = body.toString();
  keepNext = false;
  if (plan.recorded) sendRecorded(out, plan.recorded);
  else if (plan.streamed) sendStream(out, wireAt(pathname));
  else sendWhole(out, wireAt(pathname));
});

answerQuestions<UpstreamQuestion, UpstreamAnswer>(async (question) => {
  switch (question.type) {
    case 'plan':
      take(question.plan);
      if (plan.streamed && !plan.recorded) for (const wire of wires) writes[wire] = writesOf(wire, plan);
      break;
    case 'keep-next':
      keepNext = true;
      kept = '';
      break;
    case 'place':
    case 'kept':
  }
  return { port: await port, kept: question.type === 'kept' ? kept : '' };
});
