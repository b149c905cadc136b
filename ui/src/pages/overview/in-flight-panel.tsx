import { protocolTitles } from '../../api/protocols.ts';
import type { Activity, InFlight } from '../../api/requests/activity.ts';
import { count } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { Lamp } from '../../parts/text/badge.tsx';

const tones = { deciding: 'plain', waiting: 'warn', streaming: 'ok' } as const;

/** Requests in flight, the oldest first. */
export const InFlightPanel = ({ activity }: { readonly activity: Activity | undefined }) => {
  const list = activity?.inFlight ?? [];
  const more = (activity?.inFlightCount ?? 0) - list.length;
  return (
    <Panel
      title="In flight"
      about={activity && list.length === 0 ? 'None at the moment' : undefined}
      flush={list.length > 0}
    >
      {activity && list.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions need keyboard access
        <ul className="in-flight" tabIndex={0} aria-label="Requests in flight">
          {list.map((one) => (
            <li key={one.id}>
              <Lamp tone={tones[one.phase]} pulse={one.phase === 'streaming'}>
                {one.phase}
              </Lamp>
              <span className="cut" title={`${destinationOf(one)} (${protocolTitles[one.protocol]}, ${one.id})`}>
                {destinationOf(one)}
              </span>
              <span className="number">{duration(Math.max(0, activity.now - one.startedAt))}</span>
            </li>
          ))}
          {more > 0 && <li>and {count(more)} more</li>}
        </ul>
      )}
    </Panel>
  );
};

/** The model asked for until the request is routed. */
const destinationOf = ({ asked, provider, model = asked }: InFlight): string =>
  provider === undefined ? asked : `${provider}, ${model}`;
