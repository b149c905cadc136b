import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { type Decoded, type Exchange, fill, type Routed, type StageCall } from '../exchange.ts';
import type { Batch } from '../model/event.ts';
import { fail, faultOf, quoted } from '../model/fault.ts';
import { clientGone } from '../model/status.ts';
import type { Gateway } from '../routing/gateway.ts';
import { namesDestination } from '../routing/resolve.ts';
import { route, routeAs } from './route.ts';

/** A call of a stage, and the exchange that it has for itself. */
interface OwnCall {
  readonly call: StageCall;
  readonly exchange: Exchange;
}

/** Routes a call of a stage: to where it says, or where the request goes that it is made for. Throws `no-route` if it names no destination. */
export const routeStageCall = (gateway: Gateway): ((own: OwnCall) => Routed | Observable<Routed>) => {
  const routeTo = route(gateway);
  return ({ call, exchange }) => {
    const { request, to, kind, stage } = call;
    const { resolution, clientBody, holding } = call.for ?? {};
    const asked = to === undefined ? request : { ...request, model: to };
    const decoded: Decoded = fill(exchange, {
      outline: undefined,
      text: '',
      clientBody: kind === 'next' ? (clientBody ?? {}) : {},
      request: asked,
      // The same request again, wherever it goes; a question is another one.
      ...(kind === 'next' && { holding }),
    });
    const { progress, listener } = decoded;
    progress.requestedModel = to ?? (resolution ? `${resolution.provider.name},${resolution.model}` : '');
    progress.streaming = request.stream;
    listener.decoded?.(decoded);
    if (to === undefined && resolution) {
      return routeAs({ ...resolution, request: asked, reason: `transformer ${stage} calls again` }, decoded, gateway);
    }
    if (!namesDestination(asked, gateway.config)) fail('no-route', `${quoted(to ?? '')} names no destination.`);
    return routeTo(decoded);
  };
};

/** Reports the beginning, the failure and the end of a call that a stage makes. */
export const observeStageCall =
  (exchange: Exchange): MonoTypeOperatorFunction<Batch> =>
  (source) =>
    new Observable((subscriber) => {
      const { listener, client, id, progress } = exchange;
      let status = clientGone;
      let hasBegun = false;
      subscriber.add(
        source.subscribe({
          next(batch) {
            if (progress.begun && !hasBegun) listener.firstByte?.();
            hasBegun = progress.begun;
            subscriber.next(batch);
          },
          error(error: unknown) {
            const fault = faultOf(error);
            listener.failed?.(fault, error);
            status = client.encodeFault(fault, id).status;
            subscriber.error(error);
          },
          complete() {
            status = 200;
            subscriber.complete();
          },
        }),
      );
      // After the source's own end, which reports what it has used.
      subscriber.add(() => {
        listener.finished?.(status);
        exchange.over();
      });
    });
