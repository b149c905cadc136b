import { useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { readService, restartService } from '../../api/service.ts';
import { useLoad } from '../../api/use-load.ts';
import { checkAgain } from '../../config/findings.ts';
import { useForm } from '../../config/form.ts';
import { dayAndTime } from '../../format/time.ts';
import { Button } from '../../parts/button.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Panel } from '../../parts/panel.tsx';
import { confirm } from '../../shell/confirm.ts';
import { ThemeSwitch } from '../../shell/theme-switch.tsx';
import { awaitService } from './await-service.ts';
import { RestartDue } from './restart-due.tsx';

type Progress =
  | { readonly phase: 'idle' | 'starting' | 'waiting' | 'done' }
  | { readonly phase: 'failed' | 'gone'; readonly message: string };

/** The processes, and their restart; the look of this interface. */
export const Service = () => {
  const { saved } = useForm();
  const { data: service, error, reload } = useLoad(readService);
  const [progress, setProgress] = useState<Progress>({ phase: 'idle' });
  const restart = async (): Promise<void> => {
    const yes = await confirm({
      title: 'Restart the gateway?',
      text: 'New processes take over once they serve; the present ones finish what they have begun. No stream is cut.',
      yes: 'Restart',
    });
    if (!yes) return;
    setProgress({ phase: 'starting' });
    try {
      await restartService();
      setProgress({ phase: 'waiting' });
      if (await awaitService()) {
        checkAgain();
        setProgress({ phase: 'done' });
        reload();
      } else {
        const { HOST = window.location.hostname, PORT = window.location.port } = saved;
        setProgress({ phase: 'gone', message: `http://${HOST}:${PORT}/ui` });
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
            <ol className="restart-steps">
              <li aria-current={phase === 'starting' ? 'step' : undefined}>New processes start</li>
              <li aria-current={phase === 'waiting' ? 'step' : undefined}>The gateway answers again</li>
            </ol>
          )}
          {phase === 'done' && (
            <Notice kind="done" title="Restarted">
              The new processes serve.
            </Notice>
          )}
        </div>
        {progress.phase === 'failed' && (
          <Notice kind="failed" title="Not restarted">
            {progress.message}
          </Notice>
        )}
        {progress.phase === 'gone' && (
          <Notice kind="warn" title="The gateway does not answer here any more">
            Its address may have changed. By its configuration it is now at{' '}
            <a href={progress.message}>{progress.message}</a>.
          </Notice>
        )}
        {error !== undefined && <Notice kind="failed">{error}</Notice>}
        {service ? (
          <dl className="facts">
            <dt>Address</dt>
            <dd className="mono">{service.baseUrl}</dd>
            <dt>Folder</dt>
            <dd className="mono">{service.home}</dd>
            <dt>Running since</dt>
            <dd>{dayAndTime(service.startedAt)}</dd>
            <dt>Restarts</dt>
            <dd>{service.restarts}</dd>
            <dt>Processes</dt>
            <dd>
              {service.workers.length === 0
                ? `One, number ${service.pid}`
                : service.workers.map(({ pid, startedAt }) => (
                    <p key={pid}>
                      {pid}, since {dayAndTime(startedAt)}
                    </p>
                  ))}
            </dd>
          </dl>
        ) : (
          error === undefined && <Loading what="The processes" />
        )}
      </Panel>
      <Panel title="Theme" about="Kept by this browser.">
        <ThemeSwitch />
      </Panel>
    </>
  );
};
