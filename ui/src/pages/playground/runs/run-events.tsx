import { useState } from 'react';
import { pretty } from '../../../api/json.ts';
import { CopyButton } from '../../../parts/controls/button.tsx';
import { JsonEditor } from '../../../parts/json-editor/json-editor.tsx';
import { Empty } from '../../../parts/layout/notice.tsx';
import { ScrollRegion } from '../../../parts/layout/scroll-region.tsx';
import { ShowMore } from '../../../parts/table/show-more.tsx';
import type { TimedRecord } from './run.ts';

/** How many events are shown at first; long responses have thousands. */
const firstShown = 200;

/** The events or the body of a response, as received. */
export const RunEvents = ({
  events,
  eventCount,
  body,
}: {
  readonly events: readonly TimedRecord[];
  readonly eventCount: number;
  /** The body of a response that isn't streamed. */
  readonly body: string | undefined;
}) => {
  const [shown, setShown] = useState(firstShown);
  if (body !== undefined) {
    return body === '' ? <Empty title="The body is empty" /> : <JsonEditor label="Body" value={pretty(body)} />;
  }
  if (eventCount === 0) return <Empty title="No events yet" />;
  return (
    <div className="stack-tight">
      <div className="row">
        <CopyButton label="Copy all" text={events.map(wireText).join('')} />
      </div>
      <ScrollRegion className="run-events" label="Events">
        <ol className="bare">
          {events.slice(0, Math.min(shown, eventCount)).map(({ atMs, event, data }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: records have no ids; the list only grows
            <li key={index}>
              <span className="run-event-time">{atMs.toFixed(1)} ms</span>
              <span className="run-event-data">
                {event && <b>{event} </b>}
                {data}
              </span>
            </li>
          ))}
        </ol>
      </ScrollRegion>
      <ShowMore shown={shown} of={eventCount} onMore={() => setShown(shown * 5)} />
    </div>
  );
};

const wireText = ({ event, data }: TimedRecord): string => `${event && `event: ${event}\n`}data: ${data}\n\n`;
