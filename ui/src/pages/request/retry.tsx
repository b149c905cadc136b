import { useCallback, useState } from 'react';
import { failure, send } from '../../api/call.ts';
import { parseObject } from '../../api/json.ts';
import type { Capture } from '../../api/requests/requests.ts';
import { hasFailed, type RequestSummary } from '../../api/requests/summary.ts';
import { listModels } from '../../api/service.ts';
import { useAttempt } from '../../api/use-attempt.ts';
import { useLoad } from '../../api/use-load.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Finder } from '../../parts/controls/finder.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { LoadFailed, Notice } from '../../parts/layout/notice.tsx';
import { navigate } from '../../router/route.ts';
import { requestAddress } from '../requests/request-address.ts';

/** How many other providers have a button of their own, where a request failed. */
const mostOffers = 1;

/** Sends a captured request again, to any model, and opens what becomes of it. */
export const Retry = ({ summary, capture }: { readonly summary: RequestSummary; readonly capture: Capture | null }) => {
  const [running, setRunning] = useState('');
  const { busy, error, run } = useAttempt();
  const [isPicking, setPicking] = useState(false);
  const failed = hasFailed(summary);
  const models = useLoad(useCallback((signal: AbortSignal) => listModels(signal), []));
  const body = capture && !capture.client.truncated ? parseObject(capture.client.body) : undefined;
  if (!capture || !body) return null;
  const again = (model: string): void => {
    setPicking(false);
    setRunning(model);
    run(async () => {
      const response = await send(capture.client.path, {
        method: 'POST',
        body: { ...body, model },
        headers: { 'x-junctor-capture': '1' },
      });
      const id = response.headers.get('x-request-id');
      if (id === null) throw await failure(response);
      // The request is listed once its answer has ended.
      await response.arrayBuffer();
      navigate(requestAddress({ id, was: summary.id }));
    });
  };
  // Those of a provider first: other names may stand for the same models.
  const ids = (models.data ?? [])
    .map(({ id }) => id)
    .sort((one, other) => Number(other.includes(',')) - Number(one.includes(',')));
  const offers = failed ? offersOf(ids, summary) : [];
  return (
    <>
      {offers.map((model) => (
        <Button key={model} busy={busy} onClick={() => again(model)}>
          <span className="cut">Retry on {model}</span>
        </Button>
      ))}
      <Button busy={busy} aria-haspopup="dialog" onClick={() => setPicking(true)}>
        {busy ? `Waiting for ${running}…` : 'Retry on…'}
      </Button>
      {error !== undefined && <Notice kind="failed">{error}</Notice>}
      {isPicking && (
        <Dialog title="Retry on another model" onClose={() => setPicking(false)}>
          {models.error && <LoadFailed what="the models" error={models.error} onRetry={models.reload} />}
          <Finder
            label="Send it to this model, and capture it"
            choices={[
              { title: summary.asked, note: 'again, as the rules say today' },
              ...ids.filter((title) => title !== summary.asked).map((title) => ({ title })),
            ]}
            onChoose={({ title }) => again(title)}
          />
        </Dialog>
      )}
    </>
  );
};

/** A model of each of the other providers, those first that have the same model. */
const offersOf = (models: readonly string[], { provider, model = '' }: RequestSummary): readonly string[] => {
  const others = new Map<string, string>();
  const isSame = (id: string): boolean => id.endsWith(`,${model}`);
  for (const id of [...models].sort((one, other) => Number(isSame(other)) - Number(isSame(one)))) {
    const [owner = '', name] = id.split(',', 2);
    if (name !== undefined && owner !== provider && !others.has(owner)) others.set(owner, id);
  }
  return [...others.values()].slice(0, mostOffers);
};
