import { errorCode } from '../../model/fault.ts';
import type { AppLog } from './logs.ts';

/** File operations that may fail and are retried later. Only the first of consecutive failures is logged. */
export class FileWork {
  readonly #log: Pick<AppLog, 'warn'>;
  readonly #folder: string;
  readonly #message: string;
  #isFailing = false;

  /** `message`: the log message of a failure. */
  constructor(log: Pick<AppLog, 'warn'>, folder: string, message: string) {
    this.#log = log;
    this.#folder = folder;
    this.#message = message;
  }

  /** Whether the last run failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Never rejects. */
  async run(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) {
        this.#log.warn(this.#message, { folder: this.#folder, error: errorCode(error) ?? String(error) });
      }
      this.#isFailing = true;
    }
  }
}
