import { startThread } from '../paths.ts';
import type { TrialReport } from './try-stage.ts';
import type { TrialJob, TrialMessage } from './try-thread-main.ts';

/** How long a stage may keep its thread from all else, and how long a trial may last, in milliseconds. */
interface Limits {
  readonly blockedMs?: number;
  readonly wholeMs?: number;
}

/**
 * Tries a stage in a thread of its own, which ends with the trial whatever the stage does. Rejects, with the reason in one line, if it
 * can't be used, blocks the thread, or throws where nothing waits for it.
 */
export const tryApart = (
  job: TrialJob,
  { blockedMs = 5_000, wholeMs = 120_000 }: Limits = {},
): Promise<TrialReport> => {
  const worker = startThread('try-thread', 'engine/trial/try-thread-main.ts');
  const { stage } = job;
  return new Promise<TrialReport>((resolve, reject) => {
    let blocked: NodeJS.Timeout | undefined;
    const whole = setTimeout(() => reject(new Error(`${stage}: the trial took more than ${wholeMs} ms.`)), wholeMs);
    worker.on('message', (message: TrialMessage) => {
      clearTimeout(blocked);
      if (message.type === 'report') resolve(message.report);
      else if (message.type === 'unusable') reject(new Error(message.message));
      else {
        const late = (): void =>
          reject(new Error(`${stage} blocks everything for ${blockedMs} ms: a loop without end?`));
        blocked = setTimeout(late, blockedMs);
      }
    });
    worker.once('error', (error: unknown) =>
      reject(
        new Error(`${stage} throws where nothing waits for it: ${error instanceof Error ? error.message : error}`),
      ),
    );
    worker.once('exit', (code) => reject(new Error(`${stage} ends its process (exit code ${code}).`)));
    worker.postMessage(job);
    worker.once('exit', () => {
      clearTimeout(blocked);
      clearTimeout(whole);
    });
  }).finally(() => worker.terminate());
};
