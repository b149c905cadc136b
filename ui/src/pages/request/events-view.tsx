import { useMemo, useState } from 'react';
import { pretty } from '../../api/json.ts';
import type { Capture } from '../../api/requests/requests.ts';
import { CheckField, TextField } from '../../parts/controls/field.tsx';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { ScrollRegion } from '../../parts/layout/scroll-region.tsx';
import { ShowMore } from '../../parts/table/show-more.tsx';
import { isEventStream, recordsOf, textOf } from '../../stream/chunk-records.ts';
import { alignEvents, type EventRow } from './align-events.ts';

/** How many rows are shown at first; long responses have thousands. */
const firstRows = 100;

/** The provider's and the client's stream, side by side. */
export const EventsView = ({ capture }: { readonly capture: Capture }) => {
  const { upstream, reply } = capture;
  const sides = [reply, ...(upstream ? [{ headers: upstream.responseHeaders, chunks: upstream.chunks }] : [])];
  const sent = sides.filter(({ chunks }) => chunks.length > 0);
  // A provider's error may be no stream where the client's is one.
  const isStream = sent.length > 0 && sent.every(({ headers }) => isEventStream(headers));
  return isStream ? <StreamEvents capture={capture} /> : <WholeBodies capture={capture} />;
};

const StreamEvents = ({ capture }: { readonly capture: Capture }) => {
  const [withModel, setWithModel] = useState(false);
  const [text, setText] = useState('');
  const [shown, setShown] = useState(firstRows);
  const rows = useMemo(
    () => alignEvents(recordsOf(capture.upstream?.chunks ?? []), capture.events, recordsOf(capture.reply.chunks)),
    [capture],
  );
  const found = useMemo(() => rows.filter((row) => hasText(row, text.trim().toLowerCase())), [rows, text]);
  return (
    <Panel
      title="Events"
      flush
      about="Records received from the provider and sent to the client, by time"
      actions={
        <>
          <CheckField label="Show gateway events" checked={withModel} onChange={setWithModel} />
          <TextField label="Find" unlabelled type="search" placeholder="Find" value={text} onChange={setText} />
        </>
      }
    >
      {(capture.upstream?.truncated || capture.reply.truncated) && (
        <Notice kind="warn">The recording is truncated: the end of the stream is missing.</Notice>
      )}
      <ScrollRegion className="events-frame" label="Events">
        <table className="events">
          <thead>
            <tr>
              <th scope="col" className="number">
                ms
              </th>
              <th scope="col">Provider</th>
              {withModel && <th scope="col">Gateway</th>}
              <th scope="col">Client</th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, shown).map((row) => (
              <tr key={row.at}>
                <td className="number">{row.atMs.toFixed(1)}</td>
                <td data-title="Provider">
                  <Records list={row.upstream} />
                </td>
                {withModel && (
                  <td data-title="Gateway">
                    {row.model.map(({ step, text: line }, index) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: records have no names; the list never changes
                      <p key={index} className="event">
                        <b>{step}</b> {line}
                      </p>
                    ))}
                  </td>
                )}
                <td data-title="Client">
                  <Records list={row.client} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      <ShowMore shown={shown} of={found.length} onMore={() => setShown(shown * 5)} />
    </Panel>
  );
};

const hasText = ({ upstream, model, client }: EventRow, text: string): boolean =>
  text === '' ||
  [...upstream, ...client].some(({ event, data }) => `${event} ${data}`.toLowerCase().includes(text)) ||
  model.some((one) => one.text.toLowerCase().includes(text));

const Records = ({ list }: { readonly list: EventRow['upstream'] }) =>
  list.map(({ event, data }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: records have no names; the list never changes
    <p key={index} className="event">
      {event && <b>{event} </b>}
      {data}
    </p>
  ));

const WholeBodies = ({ capture: { upstream, reply } }: { readonly capture: Capture }) => (
  <div className="bodies">
    <Panel title="From the provider" about={upstream?.truncated ? 'truncated' : undefined}>
      {upstream ? (
        <JsonEditor label="Body from the provider" value={pretty(textOf(upstream.chunks))} />
      ) : (
        <p className="soft">No provider was called.</p>
      )}
    </Panel>
    <Panel title="To the client" about={reply.truncated ? 'truncated' : undefined}>
      <JsonEditor label="Body to the client" value={pretty(textOf(reply.chunks))} />
    </Panel>
  </div>
);
