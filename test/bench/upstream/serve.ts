import { loadUws, type UwsResponse } from '../../../engine/http/uws/uws.ts';
import { answerQuestions } from '../rpc.ts';
import type { Wire } from '../wire.ts';
import { wholeBody } from './answers.ts';
import { Pace } from './pace.ts';
import { type UpstreamPlan, wholeAnswer } from './plan.ts';
import type { UpstreamAnswer, UpstreamQuestion } from './start-upstream.ts';
import { stampNow, type Write, writesOf } from './writes.ts';

const wires = ['chat', 'messages', 'responses', 'gemini'] as const satisfies readonly Wire[];

let plan: UpstreamPlan = wholeAnswer;
let pace = new Pace(1_000);
let writes: Partial<Record<Wire, readonly Write[]>> = {};
let wholes: Partial<Record<Wire, Buffer>> = {};
let keepNext = false;
let kept = '';
let port = 0;

const take = (next: UpstreamPlan): void => {
  plan = next;
  pace.stop();
  pace = new Pace(next.intervalMs || 1_000);
  writes = {};
  wholes = {};
};

const wireOf = (url: string): Wire => {
  if (url.endsWith('/chat/completions')) return 'chat';
  if (url.endsWith('/messages')) return 'messages';
  return url.endsWith('/responses') ? 'responses' : 'gemini';
};

const sendWhole = (res: UwsResponse, wire: Wire): void => {
  wholes[wire] ??= Buffer.from(wholeBody(wire, plan));
  const body = wholes[wire];
  res.cork(() => {
    res.writeHeader('content-type', 'application/json');
    res.end(body);
  });
};

const sendStream = (res: UwsResponse, wire: Wire, isGone: () => boolean): void => {
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
    taken = res.write(due.bytes);
    if (next === all.length) res.end();
  };
  const step = (): boolean => {
    if (isGone()) return false;
    res.cork(write);
    return next < all.length;
  };
  const pump = (): void => {
    taken = true;
    for (let count = 0; count < 32 && taken; count += 1) if (!step()) return;
    if (taken) setImmediate(pump);
    else {
      res.onWritable(() => {
        setImmediate(pump);
        return true;
      });
    }
  };
  res.cork(() => {
    res.writeHeader('content-type', 'text/event-stream; charset=utf-8');
    res.writeHeader('cache-control', 'no-cache');
  });
  if (plan.intervalMs > 0) pace.add({ step });
  // Not in the handler's own turn: there the listener would gather the writes into larger ones.
  else setImmediate(pump);
};

const { uws } = loadUws();
uws
  .App()
  .any('/*', (res, req) => {
    const wire = wireOf(req.getUrl());
    let gone = false;
    const chunks: Buffer[] | undefined = keepNext ? [] : undefined;
    keepNext = false;
    res.onAborted(() => {
      gone = true;
    });
    res.onData((chunk, last) => {
      chunks?.push(Buffer.from(chunk.slice(0)));
      if (!last) return;
      if (chunks) kept = Buffer.concat(chunks).toString();
      if (plan.streamed) sendStream(res, wire, () => gone);
      else sendWhole(res, wire);
    });
  })
  .listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
    port = socket ? uws.us_socket_local_port(socket) : 0;
  });

answerQuestions<UpstreamQuestion, UpstreamAnswer>((question) => {
  switch (question.type) {
    case 'plan':
      take(question.plan);
      if (plan.streamed) for (const wire of wires) writes[wire] = writesOf(wire, plan);
      break;
    case 'keep-next':
      keepNext = true;
      kept = '';
      break;
    case 'place':
    case 'kept':
  }
  return { port, kept: question.type === 'kept' ? kept : '' };
});
