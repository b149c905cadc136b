import { useCallback } from 'react';
import { searchHistory } from '../../api/requests/history.ts';
import type { RequestSummary } from '../../api/requests/requests.ts';
import { useRecentRequests } from '../../api/requests/use-recent-requests.ts';
import { useLoad } from '../../api/use-load.ts';
import { duration, usd } from '../../format/figures.ts';
import { Dot } from '../../parts/text/badge.tsx';
import { requestAddress } from '../requests/request-address.ts';
import { stateOf, toneOf } from '../requests/request-columns.tsx';

const verbs = { ask: 'asked', next: 'called', decide: 'asked' } as const;

/** What stages have called for a request, and the request that it was called for itself. */
export const StageCalls = ({ summary }: { readonly summary: RequestSummary }) => {
  const { id, cause } = summary;
  const recent = useRecentRequests().data?.requests;
  // What is in memory is newer than what is only on disk.
  const isOlder = recent !== undefined && !recent.some((one) => one.id === id);
  const kept = useLoad(
    useCallback((signal: AbortSignal) => readCalls(summary, signal), [summary]),
    undefined,
    isOlder,
  );
  const calls = callsAmong([...(recent ?? []), ...(kept.data ?? [])], id);
  return (
    <>
      {cause && (
        <p>
          {cause.kind === 'decide' ? 'A condition of' : 'The stage'} {cause.stage} made this call for{' '}
          <a href={requestAddress({ id: cause.id })}>another request</a>.
        </p>
      )}
      {calls.length > 0 && (
        <section className="stack-tight" aria-label="Calls of stages">
          <h3>Calls of stages</h3>
          <ol className="attempts">
            {calls.map((call) => (
              <li key={call.id}>
                <Dot tone={toneOf(call)} title={stateOf(call)} /> {call.cause?.stage}{' '}
                {verbs[call.cause?.kind ?? 'next']}{' '}
                <a href={requestAddress(call)}>
                  {call.provider === undefined ? call.asked : `${call.provider},${call.model ?? call.asked}`}
                </a>{' '}
                <span className="soft">
                  {duration(call.durationMs)}
                  {call.cost !== undefined && `, ${usd(call.cost)}`}
                </span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
};

/** In the order of the calls. */
const callsAmong = (requests: readonly RequestSummary[], id: string): readonly RequestSummary[] =>
  requests
    .filter(({ cause }) => cause?.id === id)
    .toSorted((one, other) => one.startedAt - other.startedAt || one.id.localeCompare(other.id));

/** The requests on disk whose ids begin with that of an older request, as those of its calls do. */
const readCalls = async (
  { id, startedAt, durationMs }: RequestSummary,
  signal: AbortSignal,
): Promise<readonly RequestSummary[]> => {
  const [from, to] = [startedAt, startedAt + durationMs + afterMs].map((ms) => new Date(ms).toISOString());
  return (await searchHistory({ text: `${id}.`, ...(from && to && { from, to }) }, undefined, signal)).requests;
};

/** A call may end so long after its request, in milliseconds. */
const afterMs = 60_000;
