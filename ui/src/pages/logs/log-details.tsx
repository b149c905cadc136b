import { type Json, parseObject } from '../../api/json.ts';
import { dayAndTime } from '../../format/figures.ts';
import { Button, CopyButton, IconButton } from '../../parts/controls/button.tsx';
import { ScrollRegion } from '../../parts/layout/scroll-region.tsx';
import { Pairs } from '../../parts/text/pairs.tsx';
import { href } from '../../router/route.ts';
import { type LogRecord, levelName } from './log-record.ts';

/** All fields of one record. */
export const LogDetails = ({
  record,
  isFiltered,
  onRequest,
  onClose,
}: {
  readonly record: LogRecord;
  /** The list is filtered to this request. */
  readonly isFiltered: boolean;
  /** Filters the list to one request; an empty id removes the filter. */
  readonly onRequest: (request: string) => void;
  readonly onClose: () => void;
}) => {
  const fields = parseObject(record.line);
  const id = fields?.requestId;
  return (
    <section className="log-details" aria-label="Record details">
      <header className="log-details-head">
        <h3>Record</h3>
        <CopyButton text={record.line} />
        <IconButton icon="close" label="Close details" onClick={onClose} />
      </header>
      <ScrollRegion className="log-fields" label="Fields">
        {fields ? (
          <Pairs pairs={Object.entries(fields).map(([name, value]) => [name, show(name, value)])} />
        ) : (
          <pre>{record.line}</pre>
        )}
      </ScrollRegion>
      {record.request !== '' && (
        <div className="row log-details-foot">
          <Button onClick={() => onRequest(isFiltered ? '' : record.request)}>
            {isFiltered ? 'Show all requests' : 'Only this request'}
          </Button>
          {typeof id === 'string' && <a href={href('/requests', id)}>View request</a>}
        </div>
      )}
    </section>
  );
};

const show = (name: string, value: Json | undefined): string => {
  if (name === 'level' && typeof value === 'number') return `${value} (${levelName(value)})`;
  if (name === 'time' && typeof value === 'number') return `${value} (${dayAndTime(value)})`;
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
};
