import { appLogPolicy, type LogPolicy, serverLogPolicy } from './log-policy.ts';
import { LogWriter, reportThrottled } from './log-writer.ts';
import type { LogSettings, Logs } from './logs.ts';
import { type HiddenText, textMask } from './mask-text.ts';
import { appLog, type RecordWriter, recordWriter, serverLog } from './record-writer.ts';
import { RollingFile } from './rolling-file.ts';

/** Options of `openLogs`. */
export interface LogOptions extends LogSettings {
  /** The config directory; created if missing. */
  readonly home: string;
  /** Called with one line for users when logs can't be written, at most once per error code and hour. */
  readonly onTrouble?: (message: string) => void;
  /** Secrets to mask, in addition to everything that looks like one. A changed list must be a new array. */
  readonly secrets?: () => readonly HiddenText[];
}

const none: readonly HiddenText[] = [];

/**
 * Opens the server log and the application log of a config directory. Returns at once: files are opened in the background
 * 0.1 s after the first record, so a service that logs nothing creates no files.
 */
export const openLogs = (options: LogOptions): Logs => {
  const report = reportThrottled(options.onTrouble ?? (() => {}));
  const maskText = textMask(options.secrets ?? (() => none));
  const openLog = (policy: LogPolicy): { readonly file: LogWriter; readonly writer: RecordWriter } => {
    const file = new LogWriter(new RollingFile(policy), report, (count) =>
      writer.write('warn', 'log records were lost', { lost: count }),
    );
    const writer = recordWriter(file, maskText, options);
    return { file, writer };
  };
  const server = openLog(serverLogPolicy(options.home));
  const app = openLog(appLogPolicy(options.home));
  return {
    server: serverLog(server.writer, maskText),
    app: appLog(app.writer, maskText),
    adjust(settings) {
      server.writer.adjust(settings);
      app.writer.adjust(settings);
    },
    async flush() {
      await Promise.all([server.file.flush(), app.file.flush()]);
    },
    flushSync() {
      server.file.flushSync();
      app.file.flushSync();
    },
    async close() {
      await Promise.all([server.file.close(), app.file.close()]);
    },
  };
};
