import { dirname } from 'node:path';
import { watch } from 'chokidar';
import { debounceTime, defer, finalize, fromEventPattern, type Observable } from 'rxjs';

/** Editors write in several steps, and put a new file in the old one's place; a file isn't looked at in between. */
const settleMs = 100;

/**
 * Emits when watching has begun, and then whenever a file may have changed, been made or been removed, once it has been still
 * for a while. Watches its folder, since a file that is replaced is another one. `onError` gets what keeps the system from
 * telling; unsubscribing ends it.
 */
export const watchFile = (path: string, onError: (error: unknown) => void): Observable<unknown> =>
  defer(() => {
    const folder = dirname(path);
    const watcher = watch(folder, {
      depth: 0,
      ignoreInitial: true,
      // Logs lie in the same folder and change all the time.
      ignored: (entry) => entry !== folder && entry !== path,
    });
    watcher.on('error', onError);
    return fromEventPattern((changed) => watcher.on('all', changed).on('ready', changed)).pipe(
      debounceTime(settleMs),
      finalize(() => void watcher.close()),
    );
  });
