import { defer, from, mergeMap } from 'rxjs';
import type { Presets } from '../config/presets/presets.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { HttpRoute } from '../http/router.ts';
import { accessOf } from '../routing/client-access.ts';
import type { CurrentGateway, Gateway } from '../routing/gateway.ts';

/** A path that clients ask, and the factory of its endpoint for a gateway. */
export interface ModelPath<Doc = unknown> {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly endpointFor: (current: CurrentGateway) => Endpoint;
  /** Its description. */
  readonly doc?: Doc;
}

/** Serves each path again below `/preset/{name}`, with that preset's gateway. */
export const presetRoutes = <Doc>(
  paths: readonly ModelPath<Doc>[],
  base: CurrentGateway,
  presets: Presets<Gateway>,
): readonly (HttpRoute & Pick<ModelPath<Doc>, 'doc'>)[] =>
  paths.map(({ path, endpointFor, ...row }) => {
    const { open, forClients = false, reservesValues = false, formatFault, socket } = endpointFor(base);
    return {
      ...row,
      path: `/preset/:preset${path}`,
      endpoint: {
        open,
        forClients,
        reservesValues,
        formatFault,
        socket,
        async admitSocket({ preset = '' }, namedClient) {
          const { access } = await presets.gatewayOf(preset);
          if (namedClient !== undefined) accessOf(access, namedClient).assertPreset(preset);
        },
        handle: (incoming, params) =>
          defer(() => from(presets.gatewayOf(params.preset ?? ''))).pipe(
            mergeMap((gateway) => endpointFor({ gateway }).handle(incoming, params)),
          ),
      },
    };
  });
