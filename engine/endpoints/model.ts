import { newReplyProgress } from '../exchange.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { randomHex } from '../http/request-id.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import type { History } from '../observe/history/history.ts';
import { recordGateway } from '../observe/history/record-plan.ts';
import type { Metrics } from '../observe/metrics/metrics.ts';
import { serve } from '../pipeline.ts';
import type { Gateway } from '../routing/gateway.ts';

/**
 * Endpoint for model requests of one client protocol; each uses the gateway of that moment. `requests` keeps the history of
 * requests, if given.
 */
export const modelEndpoint = (
  client: ClientProtocol,
  currentGateway: () => Gateway,
  metrics: Metrics,
  requests?: History,
): Endpoint => ({
  open: false,
  formatFault: client.encodeFault,
  handle(incoming, { preset }) {
    const { id, startedAtMs, body, headers, backpressure, path } = incoming;
    const progress = newReplyProgress();
    const observer = metrics.started(client.wire);
    const watcher = requests?.started({ id, startedAtMs, path, preset, client, progress, observer }, incoming);
    return serve(
      {
        id,
        seed: randomHex(12),
        startedAtMs,
        client,
        body,
        clientHeader: (name) => headers[name],
        backpressure,
        progress,
        observer: watcher ?? observer,
        watcher,
      },
      watcher?.recorder ? recordGateway(currentGateway(), watcher.recorder) : currentGateway(),
    );
  },
});
