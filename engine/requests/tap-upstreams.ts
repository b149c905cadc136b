import { map, type Observable, tap } from 'rxjs';
import type { Answer, Upstreams } from '../upstream/call.ts';
import { decompress } from '../upstream/decompress.ts';
import type { RecordedCall, Recorder } from './recorder.ts';

/**
 * Upstreams whose calls and answers are recorded. Bodies are recorded, and handed on, decompressed: a secret in them could not be
 * found otherwise.
 */
export const tapUpstreams = (upstreams: Upstreams, recorder: Recorder): Upstreams => ({
  ...upstreams,
  call(call) {
    const recorded = recorder.called(call);
    return upstreams.call(call).pipe(
      map((answer) => tapAnswer(answer, recorded, recorder)),
      tap({ error: (error: unknown) => recorder.ended(recorded, error) }),
    );
  },
});

const tapAnswer = (answer: Answer, recorded: RecordedCall, recorder: Recorder): Answer => {
  const { 'content-encoding': encoding, ...headers } = answer.headers;
  recorder.mark('upstreamHead');
  recorded.status = answer.status;
  recorded.responseHeaders = headers;
  const plain: Observable<Uint8Array> = encoding === undefined ? answer.body : answer.body.pipe(decompress(encoding));
  return {
    ...answer,
    headers,
    body: plain.pipe(
      tap({
        next: (bytes) => recorder.piece(recorded, bytes),
        error: (error: unknown) => recorder.ended(recorded, error),
        complete: () => recorder.ended(recorded),
      }),
    ),
  };
};
