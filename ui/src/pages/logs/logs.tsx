import { useCallback, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { clearLog, listLogs } from '../../api/logs.ts';
import { useLoad } from '../../api/use-load.ts';
import { bytes, count, counted } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { SelectField } from '../../parts/controls/field.tsx';
import { LoadFailed } from '../../parts/layout/notice.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { Lamp } from '../../parts/text/badge.tsx';
import { saveText } from '../../parts/text/save-text.ts';
import { changeQuery } from '../../router/route.ts';
import { confirm } from '../../state/confirm.ts';
import { toast } from '../../state/toast.ts';
import type { PageProps } from '../page.ts';
import { SettingsTabs } from '../settings/settings-tabs.tsx';
import { FilterFields } from './filter-fields.tsx';
import type { LogFilter } from './log-filter.ts';
import { LogNotes, LogRecords } from './log-records.tsx';
import type { Selection } from './selection.ts';
import { useLog } from './use-log.ts';
import './logs.css';

/** The application log: the gateway's decisions. All other files hold HTTP requests. */
const appLog = 'app.log';

/** How often the file list is refreshed, in milliseconds. */
const filesEveryMs = 10_000;

/** Shows the gateway's log files and follows them. The address has the file and the filters: `#/logs?file=…&request=…`. */
export const Logs = ({ query }: PageProps) => {
  const files = useLoad(listLogs, filesEveryMs);
  const file = query.get('file') ?? appLog;
  const filter: LogFilter = {
    level: Number(query.get('level')) || 0,
    text: query.get('text') ?? '',
    request: query.get('request') ?? '',
    minutes: Number(query.get('minutes')) || 0,
    withoutOwn: query.get('own') !== '1',
  };
  const [selection, setSelection] = useState<Selection>();
  const log = useLog(file, filter);
  const { view, tail, lines } = log;
  const change = ({ level, text, request, minutes, withoutOwn }: Partial<LogFilter>): void =>
    changeQuery({
      ...(level !== undefined && { level: level === 0 ? '' : String(level) }),
      ...(text !== undefined && { text }),
      ...(request !== undefined && { request }),
      ...(minutes !== undefined && { minutes: minutes === 0 ? '' : String(minutes) }),
      ...(withoutOwn !== undefined && { own: withoutOwn ? '' : '1' }),
    });
  const pick = useCallback((name: string) => {
    changeQuery({ file: name });
    setSelection(undefined);
  }, []);
  const clear = async (): Promise<void> => {
    if (!(await clearAfterAsking(file))) return;
    setSelection(undefined);
    files.reload();
  };
  const listed = files.data ?? [];
  const isListed = listed.some(({ name }) => name === file);
  return (
    <>
      <PageBar
        title="Logs"
        actions={
          <>
            {listed.length > 0 && (
              <SelectField
                label="Log file"
                unlabelled
                value={file}
                options={(isListed ? listed : [{ ...notWritten, name: file }, ...listed]).map(({ name, size }) => ({
                  value: name,
                  label: `${name}, ${bytes(size)}`,
                }))}
                onChange={pick}
              />
            )}
            <Button disabled={view.total === 0} onClick={() => saveText(file, lines())}>
              Download
            </Button>
            <Button look="danger" icon="remove" disabled={view.total === 0} onClick={() => void clear()}>
              Clear
            </Button>
          </>
        }
      />
      <SettingsTabs shown="logs">
        {files.error && <LoadFailed what="the list of log files" error={files.error} onRetry={files.reload} />}
        <Panel
          title={file}
          flush
          className="log-panel"
          about={
            <Counts
              shown={view.length}
              total={view.total}
              busy={view.busy || !tail.loaded}
              failed={tail.error !== undefined}
            />
          }
          actions={<FilterFields filter={filter} onChange={change} hasOwn={file !== appLog} />}
        >
          <LogNotes log={log} request={filter.request} onAll={() => change({ request: '' })} />
          <LogRecords
            file={file}
            log={log}
            filter={filter}
            onFilter={change}
            selection={selection}
            onSelect={setSelection}
          />
        </Panel>
      </SettingsTabs>
    </>
  );
};

/** Empties a file if the user agrees; resolves to whether it was. */
const clearAfterAsking = async (file: string): Promise<boolean> => {
  const yes = await confirm({
    title: `Clear ${file}?`,
    text: 'All its lines are deleted from disk. Logging continues.',
    yes: 'Clear',
    danger: true,
  });
  if (!yes) return false;
  try {
    toast((await clearLog(file)).message);
    return true;
  } catch (error) {
    toast(wordError(error), 'failed');
    return false;
  }
};

const notWritten = { size: 0 };

const Counts = ({
  shown,
  total,
  busy,
  failed,
}: {
  readonly shown: number;
  readonly total: number;
  readonly busy: boolean;
  readonly failed: boolean;
}) => (
  <span className="row">
    <span>{shown === total ? counted(total, 'record') : `${count(shown)} of ${counted(total, 'record')}`}</span>
    <Lamp tone={failed ? 'bad' : busy ? 'warn' : 'ok'} pulse={busy && !failed}>
      {failed ? 'not read' : busy ? 'reading' : 'live'}
    </Lamp>
  </span>
);
