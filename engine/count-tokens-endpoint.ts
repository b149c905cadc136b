import { type CountSettings, countTokens } from './count-tokens.ts';
import { newDelivery } from './exchange.ts';
import type { Endpoint } from './http/endpoint.ts';
import { silentMeter } from './metrics/request-meter.ts';
import { randomHex } from './random-hex.ts';
import type { Yard } from './yard/yard.ts';

/** Serves requests for a token count: each gets the yard as it is at that moment. */
export const countTokensEndpoint = (settings: CountSettings, currentYard: () => Yard): Endpoint => ({
  open: false,
  wordFault: settings.client.encodeFault,
  handle: ({ id, startedAtMs, body, headers, flow }) =>
    countTokens(
      {
        id,
        seed: randomHex(12),
        startedAtMs,
        client: settings.client,
        body,
        clientHeader: (name) => headers[name],
        flow,
        delivery: newDelivery(),
        meter: silentMeter,
      },
      currentYard(),
      settings,
    ),
});
