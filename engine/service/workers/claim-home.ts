import { errorCode } from '../../model/fault.ts';
import { findService } from './find-service.ts';
import { baseUrlOf, type ListenAddress } from './listen-address.ts';
import { createPidFile, type PidFile, pidPath, removePidFile, updatePidFile } from './pid-file.ts';

/** A configuration's folder, claimed by this process. */
export interface HomeClaim {
  /** Records in the PID file where the service listens. */
  readonly serving: (place: ListenAddress) => void;
  /** Records that the service is draining, so that another service may start. */
  readonly stopping: () => void;
  readonly release: () => void;
}

/**
 * Claims a configuration's folder with a PID file, since two services would write the same files. Rejects with a one-line error
 * if another service holds it. In a read-only folder it only warns.
 */
export const claimHome = async (home: string, report: (line: string) => void): Promise<HomeClaim> => {
  const startedAtMs = Date.now();
  const { pid } = process;
  let attempts = 0;
  try {
    while (!createPidFile(home, { pid, startedAtMs, state: 'starting' })) {
      await removeStale(home, report);
      attempts += 1;
      if (attempts > 3) throw new Error(`${pidPath(home)} keeps reappearing; another service seems to be starting.`);
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    report(`warning: cannot write ${pidPath(home)} (${code}): commands cannot find the service by its folder`);
    return { serving: nothing, stopping: nothing, release: nothing };
  }
  let last: Pick<PidFile, 'port' | 'baseUrl'> = {};
  const write = (state: PidFile['state']): void => {
    try {
      updatePidFile(home, { pid, startedAtMs, state, ...last });
    } catch (error) {
      report(`warning: cannot write ${pidPath(home)}: ${String(error)}`);
    }
  };
  return {
    serving(place) {
      last = { port: place.port, baseUrl: baseUrlOf(place) };
      write('serving');
    },
    stopping: () => write('stopping'),
    release: () => removePidFile(home, pid),
  };
};

const removeStale = async (home: string, report: (line: string) => void): Promise<void> => {
  const found = await findService(home);
  if (found.type === 'running') {
    throw new Error(
      `Junctor is already running on ${home} (process ${found.pid}, ${found.baseUrl}): stop or restart it, or set JUNCTOR_HOME.`,
    );
  }
  if (found.type === 'silent' && found.state !== 'stopping') {
    const what = found.state === 'starting' ? 'is starting' : 'is not responding';
    throw new Error(`Junctor on ${home} ${what} (process ${found.pid}): wait for it, or stop it first.`);
  }
  if (found.type === 'none') return;
  if (found.type === 'stale') report(`removed the stale file ${pidPath(home)} of process ${found.pid}`);
  removePidFile(home, found.pid);
};

const nothing = (): void => {};
