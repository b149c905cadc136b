import { newDelivery } from './exchange.ts';
import type { Endpoint } from './http/endpoint.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { ClientProtocol } from './model/protocol.ts';
import { serve } from './pipeline.ts';
import { randomHex } from './random-hex.ts';
import type { Requests } from './requests/requests.ts';
import type { Yard } from './yard/yard.ts';

/**
 * Serves one client protocol: each request gets the yard as it is at that moment. `requests` follows each of them; absent: nobody
 * asks about single ones.
 */
export const modelEndpoint = (
  client: ClientProtocol,
  currentYard: () => Yard,
  metrics: Metrics,
  requests?: Requests,
): Endpoint => ({
  open: false,
  wordFault: client.encodeFault,
  handle(incoming, { preset }) {
    const { id, startedAtMs, body, headers, flow, path } = incoming;
    const delivery = newDelivery();
    const meter = metrics.started(client.wire);
    const record = requests?.started({ id, startedAtMs, path, preset, client, delivery, meter }, incoming);
    return serve(
      {
        id,
        seed: randomHex(12),
        startedAtMs,
        client,
        body,
        clientHeader: (name) => headers[name],
        flow,
        delivery,
        meter: record ?? meter,
        record,
      },
      currentYard(),
    );
  },
});
