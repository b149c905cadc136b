import { isService } from './is-service.ts';
import { type PidFile, readPidFile } from './pid-file.ts';

/** What there is of a service on a configuration's folder. */
export type FoundService =
  /** There is no sign of one. */
  | { readonly type: 'none' }
  /** There was one; its file was left behind. */
  | { readonly type: 'stale'; readonly pid: number }
  /** Its process lives, and its port answers. */
  | { readonly type: 'running'; readonly pid: number; readonly startedAtMs: number; readonly baseUrl: string }
  /** Its process lives, but its port doesn't answer: it starts, it finishes what it has begun, or it hangs. */
  | { readonly type: 'silent'; readonly pid: number; readonly state: PidFile['state'] };

const answerMs = 3_000;

/** Looks for the service that holds a configuration's folder. What the file says counts only as far as it can be confirmed. */
export const findService = async (home: string): Promise<FoundService> => {
  const found = readPidFile(home);
  if (!found) return { type: 'none' };
  const { pid, startedAtMs, state, baseUrl } = found;
  // After a restart in a container, the file that was left behind may well bear this process's own number.
  if (pid === process.pid || pid === 0 || !isService(pid)) return { type: 'stale', pid };
  return state === 'serving' && baseUrl !== undefined && (await answers(baseUrl))
    ? { type: 'running', pid, startedAtMs, baseUrl }
    : { type: 'silent', pid, state };
};

/** Whether a Switchyard answers there, be it that it can't serve just now. */
export const answers = async (baseUrl: string): Promise<boolean> => {
  try {
    const response = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(answerMs) });
    const text = await response.text();
    return (response.status === 200 || response.status === 503) && text.includes('"status"');
  } catch {
    return false;
  }
};
