import { findService } from './find-service.ts';
import { createPidFile, type PidFile, pidPath, removePidFile, updatePidFile } from './pid-file.ts';
import { baseUrlOf, type Place } from './place.ts';

/** A configuration's folder that this process holds. */
export interface Claim {
  /** Others may look for the service there. */
  readonly serving: (place: Place) => void;
  /** What it has begun still goes on, but another service may start. */
  readonly stopping: () => void;
  readonly release: () => void;
}

/**
 * Takes a configuration's folder for this process: two services on one would write the same files. Rejects with an error of one
 * line when another service holds it. A folder that can't be written is nobody's.
 */
export const claimHome = async (home: string, report: (line: string) => void): Promise<Claim> => {
  const startedAtMs = Date.now();
  const { pid } = process;
  let attempts = 0;
  try {
    while (!createPidFile(home, { pid, startedAtMs, state: 'starting' })) {
      await clear(home, report);
      attempts += 1;
      if (attempts > 3) throw new Error(`${pidPath(home)} is made again and again; another service seems to start.`);
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    report(`warning: ${pidPath(home)} can't be written (${error.code}): the service can't be found by its folder`);
    return { serving: nothing, stopping: nothing, release: nothing };
  }
  let last: Pick<PidFile, 'port' | 'baseUrl'> = {};
  const write = (state: PidFile['state']): void => {
    try {
      updatePidFile(home, { pid, startedAtMs, state, ...last });
    } catch (error) {
      report(`warning: ${pidPath(home)} can't be written: ${String(error)}`);
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

const clear = async (home: string, report: (line: string) => void): Promise<void> => {
  const found = await findService(home);
  if (found.type === 'running') {
    throw new Error(
      `Switchyard already runs on ${home} (process ${found.pid}, ${found.baseUrl}): stop or restart it, or set SWITCHYARD_HOME.`,
    );
  }
  if (found.type === 'silent' && found.state !== 'stopping') {
    const what = found.state === 'starting' ? 'is starting' : 'does not answer';
    throw new Error(`Switchyard on ${home} ${what} (process ${found.pid}): wait for it, or stop it first.`);
  }
  if (found.type === 'none') return;
  if (found.type === 'stale')
    report(`${pidPath(home)} was left behind by process ${found.pid}, which is gone; removed`);
  removePidFile(home, found.pid);
};

const nothing = (): void => {};
