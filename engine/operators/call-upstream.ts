import type { Observable } from 'rxjs';
import type { Config } from '../config/config.ts';
import { type Answered, fill, type Ready } from '../exchange.ts';
import { FaultError, fail } from '../model/fault.ts';
import type { Gateway } from '../routing/gateway.ts';
import type { UpstreamAnswer } from '../upstream/upstreams.ts';
import { decodeInFull } from './decode.ts';
import { passesThrough } from './encode-request.ts';
import { hideCredentials } from './hide-credentials.ts';
import { type SequenceStep, sequence } from './rx/sequence.ts';
import { collectBytes } from './rx/stages.ts';
import { limitHeaders } from './write-reply.ts';

/** The part of an upstream's error body that is read. */
const maxErrorBytes = 1 << 20;

/** Makes the upstream call. Throws the upstream's fault for a failure status, or the fault that prevented an answer. */
export const callUpstream =
  ({ upstreams, config }: Gateway): SequenceStep<Ready, Answered> =>
  (ready) => {
    const { call, backpressure, observer } = ready;
    observer.called();
    return upstreams
      .call({ ...call, backpressure })
      .pipe(sequence((answer) => (isSuccess(answer) ? accept(ready, answer, config) : refuse(ready, answer))));
  };

/** A redirect isn't followed: it could send the key and the conversation to any host. */
const isRedirect = ({ status }: UpstreamAnswer): boolean => status >= 300 && status < 400;

const isSuccess = ({ status }: UpstreamAnswer): boolean => status >= 200 && status < 300;

const accept = (ready: Ready, answer: UpstreamAnswer, config: Config): Answered => {
  const { status, headers, body, drain } = answer;
  const type = headers['content-type'] ?? '';
  if (/\bhtml\b/i.test(type)) {
    fail('upstream-garbled', `The upstream answered with a web page (status ${status}) instead of a model's reply.`);
  }
  const { streaming } = ready.progress;
  const streamed = /\bevent-stream\b/i.test(type) || (streaming && !/\bjson\b/i.test(type));
  const passThrough = passesThrough(ready, streamed);
  ready.observer.answered(passThrough);
  if (!passThrough.reply) decodeInFull(ready, config);
  return fill(ready, { passThrough, answer: { status, headers, streamed, body, drain } });
};

/** Reads the upstream's error body, in any format, and throws it as a fault. */
const refuse = (ready: Ready, answer: UpstreamAnswer): Observable<never> => {
  if (isRedirect(answer)) {
    fail(
      'upstream-garbled',
      `The upstream answered with a redirect (status ${answer.status}), which is not followed: its baseUrl must name the final address.`,
    );
  }
  return answer.body.pipe(
    collectBytes(
      (body): never => {
        const text = new TextDecoder().decode(body);
        const fault = ready.plan.upstream.decodeFault(answer.status, answer.headers, text);
        // A waiting time in the body is more exact than one in a header.
        const headers = { ...limitHeaders(answer.headers), ...fault.headers };
        throw new FaultError(hideCredentials({ ...fault, headers }, ready.call.headers));
      },
      { maxBytes: maxErrorBytes },
    ),
  );
};
