import { useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { gatewayNowMs } from '../../api/clock.ts';
import { forgetTaught, type Taught, type Upstream } from '../../api/upstreams.ts';
import { dayAndTime } from '../../format/figures.ts';
import { Button, CopyButton } from '../../parts/controls/button.tsx';
import { toast } from '../../state/toast.ts';

/** What a provider's refusals have taught, each with a button that forgets it. */
export const TaughtList = ({
  upstream: { provider, taught },
  onForgotten,
}: {
  readonly upstream: Upstream;
  readonly onForgotten: () => void;
}) => {
  const [busy, setBusy] = useState(false);
  const forget = async (one: Taught): Promise<void> => {
    setBusy(true);
    try {
      toast((await forgetTaught(provider, one)).message);
      onForgotten();
    } catch (error) {
      toast(wordError(error), 'failed');
    }
    setBusy(false);
  };
  return (
    <ul className="upstream-list small" aria-label="Learned from refusals">
      {taught.map((one) => (
        <li key={`${one.model} ${one.field}`}>
          <strong>{one.model}</strong>: <code>{one.field}</code> is {one.does}, {lapses(one)}. The provider said: “
          {one.words}”{' '}
          {one.config !== null && (
            <>
              For good, in the model’s entry: <code>{one.config}</code> <CopyButton text={one.config} />
            </>
          )}
          <Button look="quiet" busy={busy} onClick={() => void forget(one)}>
            Forget
          </Button>
        </li>
      ))}
    </ul>
  );
};

const lapses = ({ until }: Taught): string =>
  Date.parse(until) > gatewayNowMs() ? `until ${dayAndTime(until)}` : 'but is sent again by the next request';
