import { defer, from, mergeMap } from 'rxjs';
import type { Presets } from '../config/presets/presets.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { HttpRoute } from '../http/router.ts';
import type { CurrentGateway, Gateway } from '../routing/gateway.ts';

/** A path that clients ask, and the factory of its endpoint for a gateway. */
export interface ModelPath {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly endpointFor: (current: CurrentGateway) => Endpoint;
}

/** Serves each path again below `/preset/{name}`, with that preset's gateway. */
export const presetRoutes = (
  paths: readonly ModelPath[],
  base: CurrentGateway,
  presets: Presets<Gateway>,
): readonly HttpRoute[] =>
  paths.map(({ method, path, endpointFor }) => {
    const { open, forClients = false, formatFault } = endpointFor(base);
    return {
      method,
      path: `/preset/:preset${path}`,
      endpoint: {
        open,
        forClients,
        formatFault,
        handle: (incoming, params) =>
          defer(() => from(presets.gatewayOf(params.preset ?? ''))).pipe(
            mergeMap((gateway) => endpointFor({ gateway }).handle(incoming, params)),
          ),
      },
    };
  });
