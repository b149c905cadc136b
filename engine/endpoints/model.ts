import { clientSession } from '../clients/client-session.ts';
import { Exchange, newReplyProgress } from '../exchange.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { randomHex } from '../http/headers.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import type { History } from '../observe/history/history.ts';
import { recordGateway } from '../observe/history/record-plan.ts';
import type { Metrics } from '../observe/metrics/metrics.ts';
import { RequestLog } from '../observe/request-log.ts';
import { Observers, type Tracer, type Watcher } from '../observer.ts';
import { memoize } from '../operators/rx.ts';
import { createPipeline } from '../pipeline.ts';
import type { CurrentGateway } from '../routing/gateway.ts';
import { originOf } from '../routing/rules/request-facts.ts';

/**
 * Endpoint for model requests of one client protocol; each uses the gateway of that moment. `requests` keeps the history of
 * requests and `tracer` traces them, if given.
 */
export const modelEndpoint = (
  client: ClientProtocol,
  current: CurrentGateway,
  metrics: Metrics,
  requests?: History,
  tracer?: Tracer,
): Endpoint => ({
  open: false,
  forClients: true,
  formatFault: client.encodeFault,
  handle(incoming, { preset }) {
    const { id, startedAtMs, body, backpressure, path } = incoming;
    const { gateway } = current;
    const { namedClient: name } = incoming;
    const namedClient = name === undefined ? undefined : clientSession(gateway, name, preset);
    const progress = newReplyProgress();
    const watchers: Watcher[] = [
      metrics.started(client.wire, namedClient?.name),
      new RequestLog(id, gateway, namedClient?.name),
    ];
    if (namedClient) watchers.push(namedClient);
    const entry = requests?.started(
      { id, startedAtMs, path, preset, client, namedClient: namedClient?.name, progress, gateway },
      incoming,
    );
    if (entry) watchers.push(entry);
    if (entry?.recorder) watchers.push(entry.recorder);
    const origin = () => originOf(incoming, preset);
    const trace = tracer?.started(
      { id, method: incoming.method, route: origin().path, preset, namedClient: namedClient?.name, startedAtMs },
      (name) => incoming.header(name),
    );
    if (trace) watchers.push(trace);
    const observer = new Observers(watchers);
    const seed = randomHex(12);
    const exchange = new Exchange({
      id,
      seed,
      namedClient,
      origin,
      startedAtMs,
      client,
      body,
      clientHeader: (name) => incoming.header(name),
      onInterrupted: (handler) => incoming.onInterrupted(handler),
      answerMemory: incoming.answerMemory,
      bodyReleased: () => incoming.holdBody('values'),
      backpressure,
      progress,
      observer,
      trace,
    });
    return entry?.recorder
      ? createPipeline(recordGateway(gateway, entry.recorder))(exchange)
      : pipelineOf(gateway)(exchange);
  },
});

const pipelineOf = memoize(createPipeline);
