import { performance } from 'node:perf_hooks';
import type { Fault } from '../../model/fault.ts';
import type { Losses } from '../../model/loss.ts';
import { clientGone } from '../../model/status.ts';
import { fieldPattern, plainPath } from '../../model/wire/client-paths.ts';
import type { ObservedCall, ObservedFailure, ObservedRefusal, RequestListener } from '../../observe/listener.ts';
import { shorten } from '../../observe/log/mask-text.ts';
import type { RequestRecord } from '../../request-record.ts';
import { type CaptureReason, type Captures, maxCaptureBytes } from './captures.ts';
import { recordGateway } from './record-plan.ts';
import { cutBody, type RecordedClient, Recorder, type TimedRefusal } from './recorder.ts';

/** A copy: the request releases its body before its end. */
export const clientOf = ({ method, path, query, headers, body }: RecordedClient): RecordedClient => ({
  method,
  path,
  query,
  headers,
  body,
});

/** State shared by all watches. */
export interface WatchParts {
  /** Called once, when the request is over. */
  readonly ended: (record: RequestRecord, watch: CaptureWatch) => void;
  readonly captures: Captures;
  readonly room: BodyRoom;
}

/** Maximum bytes of bodies kept after the answers have begun: per request, and in total. */
const maxKeptBytes = 2_097_152;
const maxAllKeptBytes = 16_777_216;

/** The room for bodies that are kept for captures, should the answers break off. */
export class BodyRoom {
  #bytes = 0;

  /** Whether there is room for the bodies of a request. If so, `drop` must follow. */
  keep(bytes: number): boolean {
    if (bytes > maxKeptBytes || this.#bytes + bytes > maxAllKeptBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  drop(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** The bodies of a request whose answer has begun. */
interface KeptBodies {
  readonly client: Uint8Array;
  readonly call: ObservedCall['call'];
  readonly bytes: number;
}

/** Source of the capture at the request's end. */
interface Recording {
  readonly recorder: Recorder;
  readonly reason: CaptureReason;
}

/** Captures a request if that is asked for, or if it fails or loses fields. */
export class CaptureWatch implements RequestListener {
  readonly #record: RequestRecord;
  readonly #parts: WatchParts;
  /** The last call. Its body and the client's are let go of when the answer begins. */
  #sent: ObservedCall | undefined;
  /** Both bodies, kept for a capture should the answer break off. */
  #kept: KeptBodies | undefined;
  #recording: Recording | undefined;
  /** The upstream's answer to the last call, if it failed. */
  #refusal: TimedRefusal | undefined;
  /** Why the last call failed: the client may get another fault. */
  #callFault: Fault | undefined;

  /** `recorder`: a capture is asked for. */
  constructor(record: RequestRecord, recorder: Recorder | undefined, parts: WatchParts) {
    this.#record = record;
    this.#parts = parts;
    // While all requests are captured, these are the administrator's.
    const client = parts.captures.on ? undefined : record.start.namedClient;
    const reason = { type: 'asked', ...(client !== undefined && { client }) } as const;
    if (!recorder) return;
    this.#recording = { recorder, reason };
    record.listen(recorder);
    record.servedBy = recordGateway(record.start.gateway, recorder);
  }

  get recording(): Recording | undefined {
    return this.#recording;
  }

  encoded(call: ObservedCall): void {
    this.#dropBodies();
    this.#sent = call;
    this.#refusal = undefined;
    this.#callFault = undefined;
  }

  refused(answer: ObservedRefusal): void {
    const body = cutBody(answer.body, maxCaptureBytes);
    this.#refusal = { ...answer, body, atMs: performance.now() };
  }

  answered(): void {
    this.#keepBodies();
    const losses = this.#sent?.context.losses;
    if (losses !== undefined && losses.size > 0) this.#captureLossy(losses);
  }

  brokeOff(fault: Fault): void {
    this.#captureFault(fault);
  }

  attemptFailed({ fault }: ObservedFailure): void {
    this.#callFault = fault;
  }

  failed(fault: Fault): void {
    this.#captureFault(fault);
    this.#sent = undefined;
  }

  finished(status: number): void {
    this.#dropBodies();
    const recording = this.#recording;
    if (recording) {
      const isAsked = recording.reason.type === 'asked';
      if (!isAsked) this.#setMarks(recording.recorder);
      recording.recorder.marks.set('end', this.#record.durationMs);
      // A client that left is no failure.
      this.#record.captured = isAsked || status !== clientGone;
    }
    this.#parts.ended(this.#record, this);
  }

  #captureFault(fault: Fault): void {
    const { captures } = this.#parts;
    const recording = this.#recording ?? (captures.keepsFailed ? this.#recordSoFar({ type: 'failed' }) : undefined);
    if (recording === undefined || recording.reason.type === 'asked') return;
    this.#recording = { ...recording, reason: { type: 'failed' } };
    recording.recorder.callFailed(this.#callFault ?? fault, this.#refusal);
  }

  /** Captures the request without being asked, if this kind of loss wasn't captured just now. */
  #captureLossy(losses: Losses): void {
    if (this.#recording) return;
    const kind = this.#parts.captures.takeLossy(() => lossKind(losses));
    if (kind !== undefined) this.#recording = this.#recordSoFar({ type: 'lossy', kind });
  }

  /** A recording of what is known so far; `undefined`: the bodies are gone. */
  #recordSoFar(reason: CaptureReason): Recording | undefined {
    const { incoming: request } = this.#record.start;
    const body = this.#kept?.client ?? request.body;
    if (body.length === 0) return undefined;
    const client = { ...clientOf(request), body: cutBody(body, maxCaptureBytes) };
    const recorder = new Recorder(client, maxCaptureBytes, { startedMs: this.#record.startedMs });
    recorder.catchUp(this.#sent, this.#kept?.call);
    // The reply is recorded from its beginning, or not at all.
    if (!this.#record.isOpen) this.#record.listen({ part: (part) => recorder.part(part) });
    return { recorder, reason };
  }

  /** By reference: an answer that ends well costs no copy. */
  #keepBodies(): void {
    const client = this.#record.start.incoming.body;
    const call = this.#sent?.call;
    if (this.#recording || !call || !this.#record.start.gateway.config.history.captureFailed) return;
    const bytes = client.length + call.body.length;
    if (this.#parts.room.keep(bytes)) this.#kept = { client, call, bytes };
  }

  #dropBodies(): void {
    if (this.#kept) this.#parts.room.drop(this.#kept.bytes);
    this.#kept = undefined;
  }

  /** Replaces the times of a recorder that was filled afterwards by those that are known. */
  #setMarks({ marks }: Recorder): void {
    marks.clear();
    marks.set('received', 0);
    const { calledMs, firstByteMs } = this.#record;
    if (calledMs !== undefined) marks.set('called', calledMs);
    if (firstByteMs !== undefined) marks.set('firstByte', firstByteMs);
  }
}

const maxLosses = 50;

/** Names the fields that were lost. */
const lossKind = ({ list }: Losses): string => {
  const fields = new Set(
    list.slice(0, maxLosses).map(({ step, path }) => `${step} ${shorten(plainPath(fieldPattern(path)))}`),
  );
  return [...fields].sort().join();
};
