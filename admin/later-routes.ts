import { defer, mergeMap } from 'rxjs';
import { type DocumentedRoute, docOf } from '../engine/http/documented-route.ts';
import type { Endpoint } from '../engine/http/endpoint.ts';
import { loadOnce } from '../engine/runtime/load-once.ts';
import { formatFault } from './endpoint.ts';

/**
 * Routes of the service's own API whose code is loaded by their first request. `rows`: `GET /api/logs`, in the order in which `load`
 * returns them. `open`: they need no key.
 */
export const laterRoutes = (
  rows: readonly string[],
  load: () => Promise<readonly DocumentedRoute[]>,
  { open }: Pick<Endpoint, 'open'> = { open: false },
): readonly DocumentedRoute[] => {
  const routes = loadOnce(load);
  const loaded = async (row: string): Promise<DocumentedRoute> => {
    const route = (await routes()).find(({ method, path }) => `${method} ${path}` === row);
    // Who may call it was decided by the row.
    if (route?.endpoint.open === open) return route;
    throw new Error(`The code of ${row} is missing, or admits others than its row does.`);
  };
  return rows.map((row) => {
    const [method = '', path = ''] = row.split(' ');
    return {
      method,
      path,
      endpoint: {
        open,
        formatFault,
        handle: (request, params) =>
          defer(() => loaded(row)).pipe(mergeMap(({ endpoint }) => endpoint.handle(request, params))),
      },
      doc: async () => docOf(await loaded(row)),
    };
  });
};
