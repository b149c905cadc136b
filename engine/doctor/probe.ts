import { Buffer } from 'node:buffer';
import { defer, firstValueFrom, type Observable, of, takeUntil, tap, throwIfEmpty, toArray } from 'rxjs';
import { clientProtocols } from '../../protocols/index.ts';
import { type Answered, Exchange, type Ready } from '../exchange.ts';
import { bodyText } from '../model/call-body.ts';
import type { Batch } from '../model/event.ts';
import { type Fault, FaultError, fail } from '../model/fault.ts';
import { sayViolation, violationsIn } from '../model/grammar.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import { foldReply, isFault } from '../model/reply.ts';
import type { ModelRequest } from '../model/request.ts';
import { bytesOf } from '../model/wire/sse.ts';
import { boundReply } from '../operators/bound-answer.ts';
import { callUpstream } from '../operators/call-upstream.ts';
import { hideCredentials } from '../operators/hide-credentials.ts';
import { readEvents } from '../operators/read-events.ts';
import { sequence } from '../operators/rx/sequence.ts';
import { stages } from '../operators/rx/stages.ts';
import { watchSignatures } from '../operators/signatures.ts';
import { transformEvents } from '../operators/transform.ts';
import { prepare } from '../pipeline.ts';
import type { Gateway } from '../routing/gateway.ts';
import { eventStagesOf } from '../routing/plan/build-graph.ts';
import { Backpressure } from '../runtime/backpressure.ts';
import type { Patient } from './change.ts';
import type { ProbeOutcome, Sent } from './outcome.ts';

/** A call that is ready to be made. */
export interface PreparedProbe {
  readonly sent: Sent;
  /** Makes it. Rejects with what interrupts it, or with an error that isn't a fault. */
  readonly send: () => Promise<ProbeOutcome>;
}

interface Probe {
  readonly gateway: Gateway;
  readonly patient: Patient;
  readonly nowMs: () => number;
  /** Fails when the user interrupts. */
  readonly interrupted: Observable<never>;
  /** Hides secrets in a provider's text. */
  readonly mask: (text: string) => string;
}

/** Rules whose breaking does no client harm. */
const harmless: ReadonlySet<string> = new Set(['usage-sum']);

/** Bytes of an answer that are kept: more than its tokens need. */
const keptBytes = 1 << 18;

/** Bytes after which an answer is stopped: it has no end. */
const mostBytes = 1 << 20;

/**
 * Encodes a request in the provider's format, by the plan of the gateway as for a client of another format: nothing is relayed. It has no
 * retries and no fallbacks. An outcome if the gateway refuses it.
 */
export const prepareProbe = async (request: ModelRequest, probe: Probe): Promise<PreparedProbe | ProbeOutcome> => {
  const { gateway, patient, nowMs, interrupted } = probe;
  const destination = `${patient.provider},${patient.model}`;
  const received = new Received();
  try {
    const exchange = new Exchange({
      incoming: {
        id: 'doctor',
        startedAtMs: Date.now(),
        body: Buffer.from('{}'),
        header: () => undefined,
        backpressure: new Backpressure(),
      },
      client: clientFor(gateway, patient, { ...request, model: destination }),
      listener: { refused: ({ body }) => received.add(body, nowMs()) },
    });
    const ready = await firstValueFrom(of(exchange).pipe(prepare(gateway), takeUntil(interrupted), throwIfEmpty()));
    const body = parseJson(bodyText(ready.call.body));
    const sent: Sent = {
      body: isJsonObject(body) ? body : {},
      headers: ready.call.headers,
      stages: eventStagesOf(ready.plan.graph).map(({ name }) => name),
      estimate: ready.context.inputEstimate,
    };
    return { sent, send: () => send(ready, sent, received, probe) };
  } catch (error) {
    if (error instanceof FaultError) return { type: 'unsent', fault: error.fault };
    throw error;
  }
};

const send = async (ready: Ready, sent: Sent, received: Received, probe: Probe): Promise<ProbeOutcome> => {
  const { gateway, nowMs, interrupted, mask } = probe;
  const beganMs = nowMs();
  const hidden = (fault: Fault): Fault => hideCredentials(fault, ready.call.headers);
  const refused = (fault: Fault): ProbeOutcome => ({
    type: 'refused',
    sent,
    fault: hidden(fault),
    text: mask(received.text),
  });
  try {
    const batches = await firstValueFrom(
      defer(() =>
        of(ready).pipe(sequence(callUpstream(gateway, (answered) => readAnswer(answered, gateway, received, nowMs)))),
      ).pipe(takeUntil(interrupted), throwIfEmpty()),
    );
    const events = batches.flat();
    const reply = foldReply(events);
    if (isFault(reply)) return refused(reply);
    return {
      type: 'replied',
      sent,
      reply,
      pieces: events.filter(({ type }) => type === 'input-delta').length,
      violations: violationsIn(ready.plan.upstream.grammar, received.bytes)
        .filter(({ rule }) => !harmless.has(rule))
        .map(sayViolation),
      firstMs: received.firstMs - beganMs,
      lastMs: nowMs() - beganMs,
      text: mask(received.text),
    };
  } catch (error) {
    if (error instanceof FaultError) return refused(error.fault);
    throw error;
  }
};

const readAnswer = (
  answered: Answered,
  gateway: Gateway,
  received: Received,
  nowMs: () => number,
): Observable<Batch[]> => {
  const read = stages(boundReply(gateway.config.limits), readEvents(), watchSignatures(gateway.signatures));
  const transformed = stages(transformEvents(eventStagesOf(answered.plan.graph), gateway));
  return answered.answer.body.pipe(
    tap((chunk) => received.add(bytesOf(chunk), nowMs())),
    read(answered),
    transformed(answered),
    toArray(),
  );
};

/** The beginning of what a provider sent, and when that began. */
class Received {
  firstMs = 0;
  #bytes: Uint8Array[] = [];
  #length = 0;

  add(chunk: Uint8Array, atMs: number): void {
    if (this.#length === 0) this.firstMs = atMs;
    if (this.#length < keptBytes) this.#bytes.push(chunk.slice(0, keptBytes - this.#length));
    this.#length += chunk.length;
    if (this.#length > mostBytes) fail('upstream-error', 'The answer is stopped: it goes on and on.');
  }

  get bytes(): Uint8Array {
    return Buffer.concat(this.#bytes);
  }

  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }
}

/** A client whose request is this one, of another format than the provider's. */
const clientFor = (gateway: Gateway, { provider, model }: Patient, request: ModelRequest): ClientProtocol => {
  const protocols = clientProtocols.map(({ protocol }) => protocol);
  const [first, second] = protocols;
  if (!first || !second) throw new Error('There are two client protocols at least.');
  const found = gateway.config.providers.find(({ name }) => name === provider);
  const wire = found && gateway.planFor({ client: first, provider: found, model }).upstream.wire;
  return { ...(wire === first.wire ? second : first), decodeRequest: () => request };
};
