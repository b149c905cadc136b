import { isAbort, wordError } from '../../../api/api-error.ts';
import { failureIn, send } from '../../../api/call.ts';
import type { Json } from '../../../api/json.ts';
import { type Protocol, protocolPaths } from '../../../api/protocols.ts';
import { readText } from '../../../api/read-text.ts';
import { type SseRecord, sseReader } from '../../../api/requests/sse-records.ts';
import type { Answer } from '../../../stream/answer.ts';
import { answerReader } from '../../../stream/answer-reader.ts';
import type { Turn } from '../../../stream/conversation.ts';

/** A stream record with its arrival time. */
export interface TimedRecord extends SseRecord {
  /** Milliseconds since the request was sent. */
  readonly atMs: number;
}

/** One request and its response so far. */
export interface Run {
  /** Unique among those shown together. */
  readonly title: string;
  readonly protocol: Protocol;
  readonly phase: 'waiting' | 'receiving' | 'ended' | 'stopped' | 'failed';
  /** `undefined` until the response begins. */
  readonly status: number | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly answer: Answer;
  /** Records of a stream. The list is shared and grows: `eventCount` bounds this state. */
  readonly events: readonly TimedRecord[];
  readonly eventCount: number;
  /** The body of a response that isn't streamed. */
  readonly body: string | undefined;
  /** Milliseconds since the request was sent, here and below. */
  readonly firstByteMs: number | undefined;
  readonly firstDeltaMs: number | undefined;
  readonly lastDeltaMs: number | undefined;
  readonly endMs: number | undefined;
  /** What the gateway says that it cost, in USD. */
  readonly costUsd?: number | undefined;
  /** The error message. */
  readonly error: string | undefined;
  /** The conversation up to the response; `undefined`: the form knows only a part of what was sent. */
  readonly turns?: readonly Turn[] | undefined;
}

/** A request to send. */
export interface Job {
  readonly title: string;
  readonly protocol: Protocol;
  readonly body: Json;
  /** As the run's. */
  readonly turns?: readonly Turn[] | undefined;
}

/** Options of a run. */
interface RunOptions extends Job {
  /** Has the gateway record the request. */
  readonly capture: boolean;
  readonly signal: AbortSignal;
}

/** The rendering interval while a response arrives, in milliseconds. */
const drawEveryMs = 50;

/** Sends a request and reports its progress, failures and aborts. Resolves at the end. */
export const runRequest = async (
  { title, protocol, body, turns, capture, signal }: RunOptions,
  show: (run: Run) => void,
): Promise<void> => {
  const sentAtMs = performance.now();
  const reader = answerReader(protocol);
  const events: TimedRecord[] = [];
  let run: Run = { ...nothingYet, title, protocol, turns, answer: reader.answer(), events };
  const update = (part: Partial<Run>): void => {
    run = { ...run, ...part, answer: reader.answer(), eventCount: events.length };
    show(run);
  };
  const end = (part: Partial<Run>): void => update({ ...part, endMs: performance.now() - sentAtMs });
  show(run);
  try {
    const headers = { [costHeader]: '1', ...(capture && { 'x-junctor-capture': '1' }) };
    const response = await send(protocolPaths[protocol], { method: 'POST', body, headers, signal });
    update({
      phase: 'receiving',
      status: response.status,
      headers: [...response.headers],
      costUsd: costIn(response.headers.get(costHeader) ?? ''),
    });
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (isStream && response.body) {
      await readStream(response.body, sentAtMs, reader, events, update);
      end(endOfStream(reader.answer()));
      return;
    }
    const text = await response.text();
    if (response.ok) reader.whole(text);
    end({
      body: text,
      firstByteMs: run.firstByteMs ?? performance.now() - sentAtMs,
      phase: response.ok ? 'ended' : 'failed',
      error: response.ok ? undefined : failureIn(response.status, text).message,
    });
  } catch (error) {
    if (isAbort(error)) end({ phase: 'stopped' });
    else end({ phase: 'failed', error: run.status === undefined ? wordError(error) : brokeOff });
  }
};

/** Asks for the cost; an answer has it as a header, or as a comment at its end. Source: docs/http-api.md. */
const costHeader = 'x-junctor-cost';

const costIn = (text: string): number | undefined => {
  const cost = Number.parseFloat(text);
  return Number.isNaN(cost) ? undefined : cost;
};

const brokeOff = 'The connection was lost before the response was complete.';

const nothingYet = {
  phase: 'waiting',
  status: undefined,
  headers: [],
  eventCount: 0,
  body: undefined,
  firstByteMs: undefined,
  firstDeltaMs: undefined,
  lastDeltaMs: undefined,
  endMs: undefined,
  error: undefined,
} as const;

const readStream = async (
  body: ReadableStream<Uint8Array>,
  sentAtMs: number,
  reader: ReturnType<typeof answerReader>,
  events: TimedRecord[],
  update: (part: Partial<Run>) => void,
): Promise<void> => {
  let times: Partial<Run> = {};
  const read = sseReader((comment) => {
    const [name, cost = ''] = comment.split(': ');
    if (name === costHeader) times = { ...times, costUsd: costIn(cost) };
  });
  let deltas = 0;
  let drawnMs = Number.NEGATIVE_INFINITY;
  await readText(body, sentAtMs, ({ atMs, text }) => {
    for (const record of read(text)) {
      events.push({ ...record, atMs });
      reader.record(record);
    }
    times = { ...times, firstByteMs: times.firstByteMs ?? atMs };
    if (reader.deltas() > deltas) times = { ...times, firstDeltaMs: times.firstDeltaMs ?? atMs, lastDeltaMs: atMs };
    deltas = reader.deltas();
    if (atMs - drawnMs < drawEveryMs) return;
    drawnMs = atMs;
    update(times);
  });
  update(times);
};

const endOfStream = ({ fault, ended }: Answer): Partial<Run> => {
  if (fault !== undefined) return { phase: 'failed', error: fault };
  return ended ? { phase: 'ended' } : { phase: 'failed', error: 'The stream ended before the response was complete.' };
};
