import { Observable } from 'rxjs';
import type { Spent } from '../config/custom/around.ts';
import { Exchange, ReplyProgress, type RequestAdmission, type StageCall, type StageCalls } from '../exchange.ts';
import type { Feature } from '../feature.ts';
import type { HttpRequest } from '../http/endpoint.ts';
import { randomHex } from '../http/headers.ts';
import type { Batch } from '../model/event.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import type { TraceCarrier } from '../observe/listener.ts';
import { createStageCall } from '../pipeline.ts';
import type { RequestRecord, RequestRecords } from '../request-record.ts';
import type { Gateway } from '../routing/gateway.ts';
import { Backpressure } from '../runtime/backpressure.ts';
import { memoize } from '../runtime/memoize.ts';

/** Calls of stages that a client's request may cause, at any depth. */
const maxCalls = 16;

/** The services for the calls of stages. */
export interface CallingEndpoint {
  readonly client: ClientProtocol;
  readonly records: RequestRecords;
  /** Admits a request of a client with a key of its own. */
  readonly admit: Feature['admit'];
}

/** The request that a client has sent, or a stage's call. */
interface CallingRequest {
  readonly endpoint: CallingEndpoint;
  readonly gateway: Gateway;
  readonly incoming: HttpRequest;
  readonly record: RequestRecord;
  readonly preset: string | undefined;
  readonly admission: RequestAdmission | undefined;
  readonly trace: TraceCarrier | undefined;
}

/** The calls of a request's stages, each of which is a request of its own: with a record, limits and a trace. */
export class RequestCalls implements StageCalls {
  readonly depth: number;
  readonly left: { count: number };
  readonly #request: CallingRequest;
  #made = 0;

  constructor(request: CallingRequest, depth = 0, left = { count: maxCalls }) {
    this.#request = request;
    this.depth = depth;
    this.left = left;
  }

  session(): string | undefined {
    return this.#request.record.session;
  }

  spent(): Spent {
    return this.#request.admission?.spent?.() ?? this.#request.gateway.spending.of(this.session());
  }

  run(call: StageCall): Observable<Batch> {
    return new Observable((subscriber) =>
      stageCallOf(this.#request.gateway)(call, this.#begin(call)).subscribe(subscriber),
    );
  }

  #begin({ stage, kind, after }: StageCall): Exchange {
    const { endpoint, gateway, record: caller, preset, incoming: asked, trace } = this.#request;
    const { client, records } = endpoint;
    this.#made += 1;
    const headers = trace?.childHeaders() ?? {};
    const incoming: HttpRequest = {
      id: `${asked.id}.${this.#made}`,
      method: asked.method,
      path: asked.path,
      query: asked.query,
      header: (name) => headers[name] ?? asked.header(name),
      headers: asked.headers,
      remoteAddress: asked.remoteAddress,
      body: noBody,
      reservation: noReservation,
      retainBody: () => undefined,
      answerMemory: asked.answerMemory,
      // The client's own answer is paused with the client; an answer to a question isn't.
      backpressure: kind === 'next' ? asked.backpressure : new Backpressure(),
      onInterrupted: () => undefined,
      namedClient: asked.namedClient,
      startedAtMs: Date.now(),
    };
    const progress = new ReplyProgress();
    const { id, startedAtMs, namedClient } = incoming;
    const cause = { record: caller, stage, kind };
    // Throws if the key has been revoked: before there is a record that must end.
    const admission =
      namedClient === undefined ? undefined : endpoint.admit?.({ gateway, namedClient, preset, use: 'stage' });
    const record = records.begin({ id, startedAtMs, preset, client, namedClient, progress, gateway, incoming, cause });
    if (admission) record.listen(admission);
    const { trace: ownTrace } = record;
    return new Exchange({
      incoming,
      client,
      preset,
      seed: randomHex(12),
      admission,
      progress,
      listener: record,
      trace: ownTrace,
      after,
      calls: new RequestCalls(
        { endpoint, gateway, incoming, record, preset, admission, trace: ownTrace },
        this.depth + 1,
        this.left,
      ),
    });
  }
}

const noBody = new Uint8Array(0);

/** It has no body. */
const noReservation = { takeValues: () => undefined };

const stageCallOf = memoize(createStageCall);
