import { type Config, scenarios } from '../config/config.ts';
import { type Destination, findDestination } from './destination.ts';

/** A destination, and the names of the routes that lead there. */
export interface NamedRoute extends Destination {
  readonly routes: readonly string[];
}

/** Where the default and the scenarios lead. Routes that lead nowhere are left out. */
export const configuredRoutes = ({ router, providers }: Config): readonly NamedRoute[] => {
  const written = [
    ['default', router.default],
    ...scenarios.map((name) => [name, router.routes[name]] as const),
  ] as const;
  const found = new Map<string, Destination & { readonly routes: string[] }>();
  for (const [name, text] of written) {
    const destination = text === undefined ? undefined : findDestination(providers, text);
    if (!destination) continue;
    const key = `${destination.provider.name},${destination.model}`;
    const known = found.get(key);
    if (known) known.routes.push(name);
    else found.set(key, { ...destination, routes: [name] });
  }
  return [...found.values()];
};
