import { currentStage } from '../../config/custom/stage-context.ts';
import { messageOf } from '../../model/fault.ts';
import type { AppLog } from '../../observe/log/logs.ts';

/** Destinations for unhandled errors. */
interface StrayErrors {
  /** The service's log; `undefined` before it is open. */
  readonly log: () => Pick<AppLog, 'error'> | undefined;
  /** Writes buffered log records synchronously. */
  readonly flush: () => void;
  /** Prints a line for the user who started the service. */
  readonly report: (line: string) => void;
}

/**
 * Handles uncaught errors:
 *
 * - An error that a custom stage leaves behind, thrown late or as an unhandled rejection, is logged with the stage's name; the
 *   service continues.
 * - Another unhandled rejection is a bug of the gateway. It is logged with its stack; the service continues, since no code was
 *   interrupted.
 * - Another uncaught error has interrupted unknown code. It is logged, and the process exits with code 1; a supervisor replaces
 *   such a worker.
 */
export const guardProcess = ({ log, flush, report }: StrayErrors): void => {
  const take = (error: unknown, what: string): boolean => {
    const stage = currentStage();
    const source = stage === undefined ? 'the gateway met' : `transformer ${JSON.stringify(stage)} left behind`;
    const message = messageOf(error);
    const stack = error instanceof Error ? error.stack : undefined;
    log()?.error(`${source} ${what}: ${message}`, { stage, stack });
    report(`error: ${source} ${what}${log() ? '; app.log has the details' : `: ${message}`}`);
    return stage !== undefined;
  };
  process.on('unhandledRejection', (reason) => void take(reason, 'an unhandled rejection'));
  process.on('uncaughtException', (error) => {
    if (take(error, 'an uncaught error')) return;
    report(error.stack ?? String(error));
    flush();
    process.exit(1);
  });
};

/** Ignores write errors on stdout and stderr, so that the service survives a closed pipe (`junctor start | head`). */
export const outliveOutput = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error').on('error', () => undefined);
  }
};
