import { useCallback, useRef, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { clearLog, listLogs } from '../../api/logs.ts';
import { useLoad } from '../../api/use-load.ts';
import { bytes } from '../../format/bytes.ts';
import { count, counted } from '../../format/count.ts';
import { Lamp } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { Notice } from '../../parts/notice.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { confirm } from '../../shell/confirm.ts';
import { useShortcut } from '../../shell/shortcuts.ts';
import { toast } from '../../shell/toast.ts';
import type { PageProps } from '../page.ts';
import { FilePicker } from './file-picker.tsx';
import { mostRecords } from './log-book.ts';
import { LogDetails } from './log-details.tsx';
import type { LogFilter } from './log-filter.ts';
import { LogList } from './log-list.tsx';
import { levelName } from './log-record.ts';
import { saveText } from './save-text.ts';
import type { Selection } from './selection.ts';
import { useLog } from './use-log.ts';
import './logs.css';

/** The application log: the gateway's decisions. All other files hold HTTP requests. */
const appLog = 'app.log';

/** How often the file list is refreshed, in milliseconds. */
const filesEveryMs = 10_000;

/** Shows the gateway's log files and follows them. The address may name a file and a request: `#/logs?file=…&request=…`. */
export const Logs = ({ query }: PageProps) => {
  const files = useLoad(listLogs, filesEveryMs);
  const [file, setFile] = useState(query.get('file') ?? appLog);
  const [filter, setFilter] = useState<LogFilter>({
    level: 0,
    text: query.get('text') ?? '',
    request: query.get('request') ?? '',
    withoutOwn: true,
  });
  const [selection, setSelection] = useState<Selection>();
  const find = useRef<HTMLInputElement>(null);
  const { view, tail, lines } = useLog(file, filter);
  useShortcut('/', 'Search the log', () => find.current?.focus());
  const change = (part: Partial<LogFilter>): void => setFilter({ ...filter, ...part });
  const pick = useCallback((name: string) => {
    setFile(name);
    setSelection(undefined);
  }, []);
  const clear = async (): Promise<void> => {
    const yes = await confirm({
      title: `Clear ${file}?`,
      text: 'All its lines are deleted from disk. Logging continues.',
      yes: 'Clear',
      danger: true,
    });
    if (!yes) return;
    try {
      toast((await clearLog(file)).message);
      setSelection(undefined);
      files.reload();
    } catch (error) {
      toast(wordError(error), 'failed');
    }
  };
  const listed = files.data ?? [];
  const isListed = listed.some(({ name }) => name === file);
  const isFiltered = filter.level > 0 || filter.text !== '' || filter.request !== '';
  return (
    <>
      <PageHeader
        title="Logs"
        about="The gateway’s decisions are in app.log, HTTP requests in the other files."
        actions={
          <>
            <Button disabled={view.total === 0} onClick={() => saveText(file, lines())}>
              Download
            </Button>
            <Button look="danger" icon="remove" disabled={view.total === 0} onClick={() => void clear()}>
              Clear
            </Button>
          </>
        }
      />
      {files.error && <Notice kind="failed">{files.error}</Notice>}
      {listed.length > 0 && (
        <FilePicker
          files={isListed || file !== appLog ? listed : [notWritten, ...listed]}
          value={file}
          onChange={pick}
        />
      )}
      <Panel
        title={file}
        flush
        className="log-panel"
        about={<Counts shown={view.length} total={view.total} busy={view.busy || !tail.loaded} />}
        actions={
          <>
            <SelectField
              label="Level"
              unlabelled
              value={String(filter.level)}
              options={levelChoices}
              onChange={(level) => change({ level: Number(level) })}
            />
            <TextField
              label="Find"
              unlabelled
              type="search"
              placeholder="Find ( / )"
              ref={find}
              value={filter.text}
              onChange={(text) => change({ text })}
            />
            {file !== appLog && (
              <CheckField
                label="Hide this page’s calls"
                checked={filter.withoutOwn}
                onChange={(withoutOwn) => change({ withoutOwn })}
              />
            )}
          </>
        }
      >
        {tail.error && (
          <Notice kind="failed" title="Could not read the log">
            {tail.error}
          </Notice>
        )}
        {filter.request !== '' && (
          <div className="row log-only">
            <span>
              Only request <code>{filter.request}</code>
            </span>
            <Button onClick={() => change({ request: '' })}>Show all requests</Button>
          </div>
        )}
        {(tail.omitted > 0 || view.dropped > 0) && (
          <p className="log-note soft small">
            {tail.omitted > 0 && `${bytes(tail.omitted)} of older lines in the file are not shown. `}
            {view.dropped > 0 && `Only the newest ${count(mostRecords)} records are shown.`}
          </p>
        )}
        <div className="log-body" data-open={selection?.open}>
          {view.length === 0 && tail.loaded && !view.busy ? (
            <NothingShown isFiltered={isFiltered && view.total > 0} onAll={() => change(everything)} />
          ) : (
            <LogList label={`Records of ${file}`} view={view} selection={selection} onSelect={setSelection} />
          )}
          {selection?.open && (
            <LogDetails
              record={selection.record}
              isFiltered={filter.request !== ''}
              onRequest={(request) => change({ request })}
              onClose={() => setSelection({ ...selection, open: false })}
            />
          )}
        </div>
      </Panel>
    </>
  );
};

const everything = { level: 0, text: '', request: '' };

const levelChoices = [0, 20, 30, 40, 50].map((level) => ({
  value: String(level),
  label: level === 0 ? 'All levels' : level === 50 ? 'Errors only' : `${levelName(level)} and above`,
}));

const notWritten = { name: appLog, path: '', size: 0, lastModified: new Date().toISOString() };

const Counts = ({ shown, total, busy }: { readonly shown: number; readonly total: number; readonly busy: boolean }) => (
  <span className="row">
    <span>{shown === total ? counted(total, 'record') : `${count(shown)} of ${counted(total, 'record')}`}</span>
    <Lamp tone={busy ? 'warn' : 'ok'} pulse={busy}>
      {busy ? 'reading' : 'live'}
    </Lamp>
  </span>
);

const NothingShown = ({ isFiltered, onAll }: { readonly isFiltered: boolean; readonly onAll: () => void }) =>
  isFiltered ? (
    <Empty title="No records match the filters" actions={<Button onClick={onAll}>Show all</Button>} />
  ) : (
    <Empty title="No log records yet">New records appear here automatically.</Empty>
  );
