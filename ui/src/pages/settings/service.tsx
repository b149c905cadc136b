import { useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import type { ConfigFile } from '../../api/config/config.ts';
import { readService, restartService } from '../../api/service.ts';
import { useLoad } from '../../api/use-load.ts';
import { useForm } from '../../config/fields/form.ts';
import { checkAgain, checked } from '../../config/findings.ts';
import { dayAndTime } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { LoadedView, Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { confirm } from '../../state/confirm.ts';
import { useStore } from '../../state/store.ts';
import { awaitService } from './await-service.ts';
import { Fleet } from './fleet.tsx';
import { RestartDue } from './restart-due.tsx';

type Progress =
  | { readonly phase: 'idle' | 'starting' | 'waiting' | 'done' }
  | { readonly phase: 'failed' | 'moved'; readonly message: string };

/** The processes and their restart. */
export const Service = () => {
  const { saved } = useForm();
  const { of, restart: fields } = useStore(checked);
  const due = of === saved ? fields : [];
  const moves = due.includes('HOST') || due.includes('PORT');
  const processes = useLoad(readService);
  const [progress, setProgress] = useState<Progress>({ phase: 'idle' });
  const restart = async (): Promise<void> => {
    const yes = await confirm({
      title: 'Restart the gateway?',
      text: 'New processes take over once they are ready; the current ones finish their requests. No stream is interrupted.',
      yes: 'Restart',
    });
    if (!yes) return;
    setProgress({ phase: 'starting' });
    try {
      await restartService();
      setProgress({ phase: 'waiting' });
      // After a move, the old process may still answer here.
      if (!moves && (await awaitService())) {
        checkAgain();
        setProgress({ phase: 'done' });
        processes.reload();
      } else {
        setProgress({ phase: 'moved', message: addressIn(saved, due) });
      }
    } catch (caught) {
      setProgress({ phase: 'failed', message: wordError(caught) });
    }
  };
  const { phase } = progress;
  const busy = phase === 'starting' || phase === 'waiting';
  return (
    <>
      <Panel
        title="Processes"
        actions={
          <Button icon="reload" busy={busy} onClick={() => void restart()}>
            Restart
          </Button>
        }
      >
        {phase === 'idle' && <RestartDue />}
        <div role="status">
          {busy && (
            <ol className="stack-tight soft restart-steps">
              <li aria-current={phase === 'starting' ? 'step' : undefined}>Starting new processes</li>
              <li aria-current={phase === 'waiting' ? 'step' : undefined}>Waiting for the gateway</li>
            </ol>
          )}
          {phase === 'done' && (
            <Notice kind="done" title="Restarted">
              The new processes are serving requests.
            </Notice>
          )}
        </div>
        {progress.phase === 'failed' && (
          <Notice kind="failed" title="Not restarted">
            {progress.message}
          </Notice>
        )}
        {progress.phase === 'moved' && (
          <Notice kind="warn" title="The gateway has moved">
            It now listens on <a href={progress.message}>{progress.message}</a>. This page is no longer connected.
          </Notice>
        )}
        <LoadedView what="the processes" of={processes}>
          {(service) => (
            <dl className="facts">
              <dt>Address</dt>
              <dd className="mono">{service.baseUrl}</dd>
              <dt>HTTP server</dt>
              <dd>
                {service.http.server === 'uws' ? 'uWebSockets.js' : 'node:http'} ({service.http.reason})
              </dd>
              <dt>Folder</dt>
              <dd className="mono">{service.home}</dd>
              <dt>Running since</dt>
              <dd>{dayAndTime(service.startedAt)}</dd>
              <dt>Restarts</dt>
              <dd>{service.restarts}</dd>
              <dt>Processes</dt>
              <dd>
                {service.workers.length === 0
                  ? `1 (pid ${service.pid})`
                  : service.workers.map(({ pid, startedAt }) => (
                      <p key={pid}>
                        pid {pid}, since {dayAndTime(startedAt)}
                      </p>
                    ))}
              </dd>
            </dl>
          )}
        </LoadedView>
      </Panel>
      <Fleet />
    </>
  );
};

/** The gateway's URL after a restart, as seen from this browser. A wildcard address maps to the current host name. */
const addressIn = ({ HOST = '127.0.0.1', PORT = 3456 }: ConfigFile, changed: readonly string[]): string => {
  const host = changed.includes('HOST') && !/^(?:0\.0\.0\.0|::)$/.test(HOST) ? HOST : window.location.hostname;
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${PORT}/ui`;
};
