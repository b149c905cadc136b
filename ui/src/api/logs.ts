import type { LogFile } from '../../../admin/schema.ts';
import { call, failure, send } from './call.ts';
import type { Outcome } from './config/config.ts';
import { textListReader } from './text-list-reader.ts';

export type { LogFile };

/** All log files, newest first. */
export const listLogs = (signal?: AbortSignal): Promise<readonly LogFile[]> => call('/api/logs/files', { signal });

/** The range of a log's answer. */
interface LogSpan {
  /** In bytes: where the next lines begin. */
  readonly offset: number;
  /** Bytes of older lines that were left out. */
  readonly omitted: number;
}

/**
 * Hands over a file's lines behind the byte `after`, as they come: a file is too large to be read at one go. `begin` is
 * called first. Throws an `ApiError`, or the abort of `signal`.
 */
export const readLog = async (
  query: { readonly file: string; readonly after: number },
  signal: AbortSignal,
  begin: (span: LogSpan) => void,
  take: (lines: readonly string[]) => Promise<void>,
): Promise<void> => {
  const response = await send('/api/logs', { query, signal });
  if (!response.ok || !response.body) throw await failure(response);
  const { headers } = response;
  begin({
    offset: Number(headers.get('x-junctor-log-offset') ?? 0),
    omitted: Number(headers.get('x-junctor-log-omitted') ?? 0),
  });
  const read = textListReader();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    await take(read(value));
  }
};

/** Empties a file. */
export const clearLog = (file: string): Promise<Outcome> => call('/api/logs', { method: 'DELETE', query: { file } });
