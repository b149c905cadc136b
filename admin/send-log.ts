import { finalize, from, type Observable } from 'rxjs';
import type { Flow, Valve } from '../engine/flow.ts';
import { appLogName, type LogName, openLogFile } from '../engine/log/log-files.ts';
import { findLinesEnd, findTail, readLines, type Tail } from '../engine/log/read-lines.ts';
import type { ReplyPart } from '../engine/reply-part.ts';
import { jsonReply } from './json-reply.ts';
import { noSuchLog } from './no-such-log.ts';

/**
 * A log's newest lines as a JSON array of strings, sent as they are read: no file is too large, and a slow client holds up the
 * reading. The header `x-switchyard-log-omitted` tells how many bytes of older lines were left out, when there are any, and
 * `x-switchyard-log-offset` from which byte on the next answer goes on.
 */
export const sendLog = (log: LogName, tail: Tail, flow: Flow): Observable<ReplyPart> => {
  const gate = new Gate();
  flow.attach(gate);
  // A client that leaves while it holds up the reading must not keep the file open.
  return from(parts(log, tail, gate)).pipe(finalize(() => gate.resume()));
};

async function* parts(log: LogName, tail: Tail, gate: Gate): AsyncGenerator<ReplyPart> {
  const file = await openLogFile(log, 'read');
  if (typeof file === 'string') {
    // Nothing has been logged yet.
    yield file === 'missing' && log.name === appLogName ? jsonReply([], 200, { [offsetHeader]: '0' }) : noSuchLog();
    return;
  }
  try {
    const span = await findTail(file, tail);
    const { status, headers } = jsonReply([]);
    const { after = 0 } = tail;
    const begin = after > span.to ? 0 : after;
    const omitted = span.from > begin && { 'x-switchyard-log-omitted': String(span.from - begin) };
    // A line that is still being written comes whole with the next answer.
    const end = await findLinesEnd(file, span.from, span.to);
    yield { type: 'head', status, headers: { ...headers, ...omitted, [offsetHeader]: String(end) } };
    let before = '[';
    for await (const lines of readLines(file, tail.after === undefined ? span : { from: span.from, to: end })) {
      await gate.opened;
      yield { type: 'data', data: before + lines.map((line) => JSON.stringify(line)).join(',') };
      before = ',';
    }
    yield { type: 'data', data: before === '[' ? '[]' : ']' };
  } finally {
    await file.close();
  }
}

const offsetHeader = 'x-switchyard-log-offset';

/** Lets a reader wait for a slow client. */
class Gate implements Valve {
  /** Resolves once there is room; none while there is. */
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
