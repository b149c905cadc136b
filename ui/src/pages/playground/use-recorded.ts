import { useCallback, useEffect, useState } from 'react';
import { type JsonObject, parseObject } from '../../api/json.ts';
import type { Protocol } from '../../api/protocols.ts';
import { type CapturedRequest, readRequest } from '../../api/requests/requests.ts';
import { useLoad } from '../../api/use-load.ts';
import { href, replaceAddress } from '../../router/route.ts';
import { isEventStream, recordsOf, textOf } from '../../stream/chunk-records.ts';
import { readAnswer } from '../../stream/recorded-answer.ts';
import type { Run } from './runs/run.ts';

/** A recorded request that the prompt was made of. */
interface Recorded {
  /** Its response, to compare others with. */
  readonly recorded: Run | undefined;
  /** Why it can't be sent again. */
  readonly problem: string | undefined;
  /** Why it can't be read. */
  readonly error: string | undefined;
  readonly reload: () => void;
  readonly forget: () => void;
}

/** Hands the recorded request with this id to `take`, which must be stable, once. */
export const useRecorded = (id: string | null, take: (protocol: Protocol, body: JsonObject) => void): Recorded => {
  const [recorded, setRecorded] = useState<Run>();
  const [problem, setProblem] = useState<string>();
  const { data, error, reload } = useLoad(
    useCallback(async (signal: AbortSignal) => (id === null ? undefined : readRequest(id, signal)), [id]),
  );
  useEffect(() => {
    if (!data) return;
    const { summary, capture } = data;
    const body = capture && !capture.client.truncated ? parseObject(capture.client.body) : undefined;
    setProblem(body ? undefined : 'The capture does not hold the whole request, so it cannot be sent again.');
    setRecorded(body && runOf(data));
    if (body) take(summary.protocol, body);
    // A reload keeps what was edited since.
    replaceAddress(href('/playground'));
  }, [data, take]);
  return { recorded, problem, error, reload, forget: useCallback(() => setRecorded(undefined), []) };
};

const runOf = ({ summary, capture }: CapturedRequest): Run | undefined => {
  if (!capture) return undefined;
  const { protocol, asked, provider, model, status, firstByteMs, durationMs } = summary;
  const { headers, chunks } = capture.reply;
  const answer = readAnswer(summary, capture.reply);
  const events = isEventStream(headers) ? recordsOf(chunks) : [];
  return {
    title: `Captured: ${provider === undefined ? asked : `${provider},${model ?? asked}`}`,
    protocol,
    phase: status >= 400 || answer.fault !== undefined ? 'failed' : 'ended',
    status,
    headers: Object.entries(headers),
    answer,
    events,
    eventCount: events.length,
    body: isEventStream(headers) ? undefined : textOf(chunks),
    firstByteMs,
    firstDeltaMs: undefined,
    lastDeltaMs: undefined,
    endMs: durationMs,
    error: answer.fault,
  };
};
