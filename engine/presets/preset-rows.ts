import { defer, from, mergeMap } from 'rxjs';
import type { Endpoint } from '../http/endpoint.ts';
import type { Row } from '../http/site.ts';
import type { Yard } from '../yard/yard.ts';
import type { Presets } from './presets.ts';

/** A path for models, and what serves it with the yard that it is given. */
export interface ModelPath {
  readonly path: string;
  readonly endpointFor: (yard: () => Yard) => Endpoint;
}

/** Each path a second time, below `/preset/{name}`, with that preset's yard. */
export const presetRows = (paths: readonly ModelPath[], baseYard: () => Yard, presets: Presets): readonly Row[] =>
  paths.map(({ path, endpointFor }) => {
    const { open, wordFault } = endpointFor(baseYard);
    return {
      method: 'POST',
      path: `/preset/:preset${path}`,
      endpoint: {
        open,
        wordFault,
        handle: (incoming, params) =>
          defer(() => from(presets.yardOf(params.preset ?? ''))).pipe(
            mergeMap((yard) => endpointFor(() => yard).handle(incoming, params)),
          ),
      },
    };
  });
