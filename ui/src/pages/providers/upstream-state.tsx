import type { KeyRest, Upstream } from '../../api/upstreams.ts';
import { counted, duration } from '../../format/figures.ts';
import { Lamp } from '../../parts/text/badge.tsx';
import { TaughtList } from './taught-list.tsx';

const why: Readonly<Record<KeyRest['why'], string>> = {
  limited: 'rate-limited by the provider',
  refused: 'rejected by the provider',
  forbidden: 'forbidden by the provider',
};

/** The current state of a saved provider. */
export const UpstreamState = ({
  upstream,
  onChange,
}: {
  readonly upstream: Upstream;
  /** The state was changed from here. */
  readonly onChange: () => void;
}) => {
  const { live, connections, queue, keys, models } = upstream;
  const troubled = models.filter(({ breaker, faults }) => breaker !== 'closed' || faults > 0);
  const resting = keys.flatMap(({ number, rest }) => (rest ? [{ number, ...rest }] : []));
  return (
    <section className="upstream" aria-label="State">
      <p className="small">
        <Lamp
          tone={
            troubled.some(({ breaker, waitMs }) => breaker === 'open' && waitMs > 0)
              ? 'bad'
              : resting.length > 0
                ? 'warn'
                : 'ok'
          }
        >
          {counted(live, 'request')} in flight, {counted(connections.inUse, 'connection')} in use
          {queue.length > 0 && `, ${queue.length} waiting for a connection`}
        </Lamp>
      </p>
      <ul className="upstream-list small">
        {troubled.map(({ model, breaker, faults, waitMs }) => (
          <li key={model}>
            <strong>{model}</strong>:{' '}
            {breaker === 'closed'
              ? counted(faults, 'consecutive failure')
              : `breaker open after ${counted(faults, 'consecutive failure')}${waitMs > 0 ? `, retried in ${duration(waitMs)}` : '; the next request probes it'}`}
          </li>
        ))}
        {resting.map((rest) => (
          <li key={rest.number}>
            Key {rest.number} cools down for {duration(rest.forMs)}: {why[rest.why]}.
          </li>
        ))}
      </ul>
      {upstream.taught.length > 0 && <TaughtList upstream={upstream} onForgotten={onChange} />}
    </section>
  );
};
