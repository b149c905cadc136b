import { Buffer } from 'node:buffer';
import { defer, map, mergeMap, type Observable, of, toArray } from 'rxjs';
import { newDelivery } from './exchange.ts';
import { smallRequest } from './explain.ts';
import { Flow } from './flow.ts';
import { quietLogs } from './log/quiet-logs.ts';
import { createLossCounter } from './loss-counter.ts';
import { silentMeter } from './metrics/request-meter.ts';
import { FaultError } from './model/fault.ts';
import type { ClientProtocol } from './model/protocol.ts';
import { foldReply, isFault, type Reply } from './model/reply.ts';
import { callUpstream } from './operators/call-upstream.ts';
import { readEvents } from './operators/read-events.ts';
import { transformEvents } from './operators/transform-events.ts';
import { prepare } from './pipeline.ts';
import { createSignatureMemory } from './signatures/memory.ts';
import type { Yard } from './yard/yard.ts';

/** What a provider said to a tiny request. */
export interface TrialAnswer {
  readonly status: number;
  /** The visible text; may be empty, since thinking can use up so small an answer. */
  readonly text: string;
}

/** Who is asked, and as what. */
export interface Trial {
  /** The client protocol that the request is written in: the one whose requests name `max_tokens`. */
  readonly client: ClientProtocol;
  readonly provider: string;
  readonly model: string;
  /** When it is asked, in milliseconds since 1970. */
  readonly atMs: number;
}

const mostTokens = 16;

/**
 * Sends one tiny request through the yard's line to a provider. It is neither counted nor logged. Fails with the fault that a client
 * would get.
 */
export const tryProvider = ({ client, provider, model, atMs }: Trial, yard: Yard): Observable<TrialAnswer> =>
  defer(() => {
    const asked = { ...smallRequest(client.wire, `${provider},${model}`, 'Say hi.'), max_tokens: mostTokens };
    const exchange = {
      id: 'trial',
      seed: '0'.repeat(24),
      startedAtMs: atMs,
      client,
      body: Buffer.from(JSON.stringify(asked)),
      clientHeader: () => undefined,
      flow: new Flow(),
      delivery: newDelivery(),
      meter: silentMeter,
    };
    const quiet: Yard = {
      ...yard,
      log: quietLogs.app,
      losses: createLossCounter(),
      signatures: createSignatureMemory(),
    };
    return of(exchange).pipe(
      prepare(exchange, quiet),
      callUpstream(quiet.upstreams),
      mergeMap((answered) =>
        answered.answer.body.pipe(
          readEvents(answered),
          transformEvents(answered, quiet),
          toArray(),
          map((batches) => {
            const reply = foldReply(batches.flat());
            if (isFault(reply)) throw new FaultError(reply);
            return { status: answered.answer.status, text: textOf(reply) };
          }),
        ),
      ),
    );
  });

const textOf = ({ blocks }: Reply): string =>
  blocks.map((block) => (block.type === 'text' || block.type === 'refusal' ? block.text : '')).join('');
