import { bytes, count } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Empty, LoadFailed } from '../../parts/layout/notice.tsx';
import { mostRecords } from './log-book.ts';
import { LogDetails } from './log-details.tsx';
import type { LogFilter } from './log-filter.ts';
import { LogList } from './log-list.tsx';
import type { Selection } from './selection.ts';
import type { OpenLog } from './use-log.ts';

/** The records that pass the filter, and the details of the selected one. */
export const LogRecords = ({
  file,
  log: { view, tail },
  filter,
  onFilter,
  selection,
  onSelect,
}: {
  readonly file: string;
  readonly log: OpenLog;
  readonly filter: LogFilter;
  readonly onFilter: (part: Partial<LogFilter>) => void;
  readonly selection: Selection | undefined;
  readonly onSelect: (selection: Selection) => void;
}) => {
  const isFiltered = filter.level > 0 || filter.text !== '' || filter.request !== '' || filter.minutes > 0;
  return (
    <div className="log-body" data-open={selection?.open}>
      {view.length === 0 && tail.loaded && !view.busy ? (
        <NothingShown isFiltered={isFiltered && view.total > 0} onAll={() => onFilter(everything)} />
      ) : (
        <LogList label={`Records of ${file}`} view={view} selection={selection} onSelect={onSelect} />
      )}
      {selection?.open && (
        <LogDetails
          record={selection.record}
          isFiltered={filter.request !== ''}
          onRequest={(request) => onFilter({ request })}
          onClose={() => onSelect({ ...selection, open: false })}
        />
      )}
    </div>
  );
};

const everything = { level: 0, text: '', request: '', minutes: 0 };

const NothingShown = ({ isFiltered, onAll }: { readonly isFiltered: boolean; readonly onAll: () => void }) =>
  isFiltered ? (
    <Empty title="No records match the filters" actions={<Button onClick={onAll}>Show all</Button>} />
  ) : (
    <Empty title="No log records yet">New records appear here automatically.</Empty>
  );

/** What isn't shown of the file, and why. `request`: the only one shown, or empty. */
export const LogNotes = ({
  log: { view, tail, look },
  request,
  onAll,
}: {
  readonly log: OpenLog;
  readonly request: string;
  readonly onAll: () => void;
}) => (
  <>
    {tail.error && <LoadFailed what="the log" error={tail.error} onRetry={look} />}
    {request !== '' && (
      <div className="row log-only">
        <span>
          Only request <code>{request}</code>
        </span>
        <Button onClick={onAll}>Show all requests</Button>
      </div>
    )}
    {(tail.omitted > 0 || view.dropped > 0) && (
      <p className="log-note soft small">
        {tail.omitted > 0 && `${bytes(tail.omitted)} of older lines in the file are not shown. `}
        {view.dropped > 0 && `Only the newest ${count(mostRecords)} records are shown.`}
      </p>
    )}
  </>
);
