import { finalize, from, type Observable } from 'rxjs';
import type { Backpressure, Pausable } from '../engine/backpressure.ts';
import type { ReplyPart } from '../engine/http/endpoint.ts';
import { appLogName, type LogName, openLogFile } from '../engine/log/list-logs.ts';
import { findLinesEnd, findTail, readLines, type Tail } from '../engine/log/read-lines.ts';
import { jsonReply } from './json-reply.ts';
import { noSuchLog } from './no-such-log.ts';

/**
 * Streams a log's newest lines as a JSON array of strings; any file size, with back-pressure. Headers:
 * `x-switchyard-log-omitted` (bytes of omitted older lines, if any) and `x-switchyard-log-offset` (byte offset at which the
 * next reply continues).
 */
export const sendLog = (log: LogName, tail: Tail, backpressure: Backpressure): Observable<ReplyPart> => {
  const gate = new Gate();
  backpressure.attach(gate);
  // Resumes on disconnect, so that a paused read doesn't keep the file open.
  return from(readParts(log, tail, gate)).pipe(finalize(() => gate.resume()));
};

async function* readParts(log: LogName, tail: Tail, gate: Gate): AsyncGenerator<ReplyPart> {
  const file = await openLogFile(log, 'read');
  if (typeof file === 'string') {
    // The application log is created on its first record.
    yield file === 'missing' && log.name === appLogName ? jsonReply([], 200, { [offsetHeader]: '0' }) : noSuchLog();
    return;
  }
  try {
    const span = await findTail(file, tail);
    const { status, headers } = jsonReply([]);
    const { after = 0 } = tail;
    const begin = after > span.to ? 0 : after;
    const omitted = span.from > begin && { 'x-switchyard-log-omitted': String(span.from - begin) };
    // An incomplete last line is sent with the next reply.
    const end = await findLinesEnd(file, span.from, span.to);
    yield { type: 'head', status, headers: { ...headers, ...omitted, [offsetHeader]: String(end) } };
    let separator = '[';
    for await (const lines of readLines(file, tail.after === undefined ? span : { from: span.from, to: end })) {
      await gate.opened;
      yield { type: 'data', data: separator + lines.map((line) => JSON.stringify(line)).join(',') };
      separator = ',';
    }
    yield { type: 'data', data: separator === '[' ? '[]' : ']' };
  } finally {
    await file.close();
  }
}

const offsetHeader = 'x-switchyard-log-offset';

/** Pauses reading while the client is slow. */
class Gate implements Pausable {
  /** Resolves on `resume`; `undefined` unless paused. */
  opened: Promise<void> | undefined;
  #open: (() => void) | undefined;

  pause(): void {
    this.opened ??= new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  resume(): void {
    this.#open?.();
    this.opened = undefined;
  }
}
