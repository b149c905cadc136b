import type { KeyRest, Upstream } from '../../api/upstreams.ts';
import { counted } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { Lamp } from '../../parts/badge.tsx';

const why: Readonly<Record<KeyRest['why'], string>> = {
  limited: 'the provider limits it',
  refused: 'the provider refused it',
  forbidden: 'the provider forbids it',
};

/** How the saved provider stands right now. */
export const UpstreamState = ({ upstream }: { readonly upstream: Upstream }) => {
  const { live, connections, queue, keys, models } = upstream;
  const troubled = models.filter(({ breaker, faults }) => breaker !== 'closed' || faults > 0);
  const resting = keys.flatMap(({ number, rest }) => (rest ? [{ number, ...rest }] : []));
  return (
    <section className="upstream" aria-label="State">
      <p className="small">
        <Lamp tone={troubled.some(({ breaker }) => breaker === 'open') ? 'bad' : resting.length > 0 ? 'warn' : 'ok'}>
          {counted(live, 'request')} at work, {counted(connections.inUse, 'connection')} in use
          {queue.length > 0 && `, ${queue.length} waiting for one`}
        </Lamp>
      </p>
      <ul className="upstream-list small">
        {troubled.map(({ model, breaker, faults, waitMs }) => (
          <li key={model}>
            <strong>{model}</strong>:{' '}
            {breaker === 'closed'
              ? `${counted(faults, 'fault')} in a row`
              : `left alone after ${counted(faults, 'fault')} in a row${waitMs > 0 ? `, tried again in ${duration(waitMs)}` : '; the next request tries it'}`}
          </li>
        ))}
        {resting.map((rest) => (
          <li key={rest.number}>
            Key {rest.number} rests for {duration(rest.forMs)}: {why[rest.why]}.
          </li>
        ))}
      </ul>
    </section>
  );
};
