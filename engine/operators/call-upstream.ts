import { mergeMap, type Observable, type OperatorFunction, of } from 'rxjs';
import type { Answered, Ready } from '../exchange.ts';
import { FaultError, fail } from '../model/fault.ts';
import type { Answer, Upstreams } from '../upstream/call.ts';
import { decompress } from '../upstream/decompress.ts';
import { collectBytes } from './collect-bytes.ts';
import { limitHeaders } from './headers.ts';
import { hideCredentials } from './hide-credentials.ts';

/** How much of an upstream's error body is read. */
const maxErrorBytes = 1 << 20;

/** Makes the call. Throws the upstream's own fault for a failure status, and what kept it from answering at all. */
export const callUpstream = (upstreams: Upstreams): OperatorFunction<Ready, Answered> =>
  mergeMap((ready) =>
    upstreams
      .call({ ...ready.call, flow: ready.flow })
      .pipe(mergeMap((answer) => (isSuccess(answer) ? of(accept(ready, answer)) : refuse(ready, answer)))),
  );

const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300;

const accept = (ready: Ready, answer: Answer): Answered => {
  const { status, headers } = answer;
  const type = headers['content-type'] ?? '';
  if (/\bhtml\b/i.test(type)) {
    fail('upstream-garbled', `The upstream answered with a web page (status ${status}) instead of a model's reply.`);
  }
  const streamed = /\bevent-stream\b/i.test(type) || (ready.delivery.streaming && !/\bjson\b/i.test(type));
  return { ...ready, answer: { status, headers, streamed, body: plainBody(answer) } };
};

/** The upstream's error body, in whatever form, as a fault. */
const refuse = (ready: Ready, answer: Answer): Observable<never> =>
  plainBody(answer).pipe(
    collectBytes(maxErrorBytes),
    mergeMap((body): never => {
      const text = new TextDecoder().decode(body);
      const fault = ready.line.upstream.decodeFault(answer.status, answer.headers, text);
      // What the body says of waiting is more exact than a header; the other limits are every vendor's alike.
      const headers = { ...limitHeaders(answer.headers), ...fault.headers };
      throw new FaultError(hideCredentials({ ...fault, headers }, ready));
    }),
  );

const plainBody = ({ headers, body }: Answer): Observable<Uint8Array> => {
  const encoding = headers['content-encoding'];
  return encoding === undefined || encoding === 'identity' ? body : body.pipe(decompress(encoding));
};
