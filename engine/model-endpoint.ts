import { newDelivery } from './exchange.ts';
import type { Endpoint } from './http/endpoint.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { ClientProtocol } from './model/protocol.ts';
import { serve } from './pipeline.ts';
import { randomHex } from './random-hex.ts';
import type { Yard } from './yard/yard.ts';

/** Serves one client protocol: each request gets the yard as it is at that moment. */
export const modelEndpoint = (client: ClientProtocol, currentYard: () => Yard, metrics: Metrics): Endpoint => ({
  open: false,
  wordFault: client.encodeFault,
  handle: ({ id, startedAtMs, body, headers, flow }) =>
    serve(
      {
        id,
        seed: randomHex(12),
        startedAtMs,
        client,
        body,
        clientHeader: (name) => headers[name],
        flow,
        delivery: newDelivery(),
        meter: metrics.started(client.wire),
      },
      currentYard(),
    ),
});
