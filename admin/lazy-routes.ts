import { defer, mergeMap } from 'rxjs';
import { type DocumentedRoute, docOf, type RouteOperation } from '../engine/http/documented-route.ts';
import type { Endpoint } from '../engine/http/endpoint.ts';
import { loadOnce } from '../engine/runtime/load-once.ts';
import { formatFault } from './endpoint.ts';

type Place = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

/**
 * Routes of the service's own API whose code is loaded by their first request. `places`: where each of the operations is that `load`
 * returns. `open`: they need no key.
 */
export const lazyRoutes = <Name extends string>(
  places: Readonly<Record<Name, Place>>,
  load: () => Promise<Readonly<Record<Name, RouteOperation>>>,
  { open }: Pick<Endpoint, 'open'> = { open: false },
): readonly DocumentedRoute[] => {
  const operations = loadOnce<Readonly<Record<string, RouteOperation>>>(load);
  const loaded = async (name: string): Promise<RouteOperation> => {
    const operation = (await operations())[name];
    // Who may call it was decided by `open`.
    if (operation?.endpoint.open === open) return operation;
    throw new Error(`The operation ${name} admits others than its route does.`);
  };
  return Object.entries<Place>(places).map(([name, place]) => {
    const [method = '', path = ''] = place.split(' ');
    return {
      method,
      path,
      endpoint: {
        open,
        formatFault,
        handle: (request, params) =>
          defer(() => loaded(name)).pipe(mergeMap(({ endpoint }) => endpoint.handle(request, params))),
      },
      doc: async () => docOf(await loaded(name)),
    };
  });
};
