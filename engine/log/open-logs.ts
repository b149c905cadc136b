import { appPlace } from './app-place.ts';
import { LogFile } from './log-file.ts';
import type { LogPlace } from './log-place.ts';
import type { LogFields, LogLevel, LogSettings, Logs } from './logs.ts';
import { textMask } from './mask-text.ts';
import { type RecordWriter, recordWriter } from './record-writer.ts';
import { RollingFile } from './rolling-file.ts';
import { serverLog } from './server-log.ts';
import { serverPlace } from './server-place.ts';
import { seldom } from './trouble.ts';

export interface LogOptions extends LogSettings {
  /** The config directory; made if it isn't there. */
  readonly home: string;
  /** Gets one line for users when logs can't be written: at most one per kind of trouble and hour. */
  readonly onTrouble?: (message: string) => void;
  /** Keys to be masked wherever they occur, beside all that looks like one. A new list must be a new array. */
  readonly secrets?: () => readonly string[];
}

const none: readonly string[] = [];

/**
 * Opens the server log and the application log of a config directory. Returns at once: files are opened in the background
 * when there is something to write, 0.1 s after the first record, so a service that logs nothing makes none.
 */
export const openLogs = (options: LogOptions): Logs => {
  const trouble = seldom(options.onTrouble ?? (() => {}));
  const maskText = textMask(options.secrets ?? (() => none));
  const openLog = (place: LogPlace): { readonly file: LogFile; readonly writer: RecordWriter } => {
    const file = new LogFile(new RollingFile(place), trouble, (count) =>
      writer.writeClean('warn', 'log records were lost', { lost: count }),
    );
    const writer = recordWriter(file, maskText, options);
    return { file, writer };
  };
  const server = openLog(serverPlace(options.home));
  const app = openLog(appPlace(options.home));
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => app.writer.write(level, message, fields);
  return {
    server: serverLog(server.writer, maskText),
    app: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
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
