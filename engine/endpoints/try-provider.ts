import { Buffer } from 'node:buffer';
import { defer, map, type Observable, of, toArray } from 'rxjs';
import { type Answered, Exchange } from '../exchange.ts';
import { FaultError } from '../model/fault.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import { foldReply, isFault, type Reply } from '../model/reply.ts';
import { quietLogs } from '../observe/log/logs.ts';
import { createLossCounter } from '../observe/loss-counter.ts';
import { boundReply } from '../operators/bound-answer.ts';
import { callUpstream } from '../operators/call-upstream.ts';
import { hideCredentials } from '../operators/hide-credentials.ts';
import { readEvents } from '../operators/read-events.ts';
import { sequence } from '../operators/rx/sequence.ts';
import { stages } from '../operators/rx/stages.ts';
import { transformEvents } from '../operators/transform.ts';
import { prepare } from '../pipeline.ts';
import type { Gateway } from '../routing/gateway.ts';
import { eventStagesOf } from '../routing/plan/build-graph.ts';
import { createSignatureCache } from '../routing/reasoning/signature-cache.ts';
import { TaughtMemory } from '../routing/taught.ts';
import { Backpressure } from '../runtime/backpressure.ts';

/** A provider's answer to a test request. */
interface TrialAnswer {
  readonly status: number;
  /** The visible text; empty if reasoning used up all tokens. */
  readonly text: string;
}

/** The provider and model to test. */
interface Trial {
  /** Client protocol of the test request; its requests must have `max_tokens`. */
  readonly client: ClientProtocol;
  readonly provider: string;
  readonly model: string;
  /** Time of the request, in milliseconds since 1970. */
  readonly atMs: number;
}

const maxTokens = 16;

/**
 * Sends a minimal request to a provider through the gateway's plan. Not counted and not logged. Fails with the fault that a
 * client would get.
 */
export const tryProvider = ({ client, provider, model, atMs }: Trial, gateway: Gateway): Observable<TrialAnswer> =>
  defer(() => {
    const asked = { ...client.question(`${provider},${model}`, 'Say hi.'), max_tokens: maxTokens };
    const exchange = new Exchange({
      incoming: {
        id: 'trial',
        startedAtMs: atMs,
        body: Buffer.from(JSON.stringify(asked)),
        header: () => undefined,
        backpressure: new Backpressure(),
      },
      client,
    });
    const quiet: Gateway = {
      ...gateway,
      log: quietLogs.app,
      losses: createLossCounter(),
      signatures: createSignatureCache(),
      taught: new TaughtMemory(),
    };
    return of(exchange).pipe(prepare(quiet), sequence(callUpstream(quiet, (answered) => readAnswer(answered, quiet))));
  });

const readAnswer = (answered: Answered, gateway: Gateway): Observable<TrialAnswer> => {
  const events = transformEvents(eventStagesOf(answered.plan.graph), gateway);
  const read = stages(boundReply(gateway.config.limits), readEvents(), events);
  return answered.answer.body.pipe(
    read(answered),
    toArray(),
    map((batches) => {
      const reply = foldReply(batches.flat());
      if (isFault(reply)) throw new FaultError(hideCredentials(reply, answered.call.headers));
      return { status: answered.answer.status, text: textOf(reply) };
    }),
  );
};

const textOf = ({ blocks }: Reply): string =>
  blocks.map((block) => (block.type === 'text' || block.type === 'refusal' ? block.text : '')).join('');
