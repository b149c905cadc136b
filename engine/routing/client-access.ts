import type { Config, NamedClient } from '../config/config.ts';
import { globMatcher } from '../config/glob.ts';
import { presetRoute } from '../config/sections/clients.ts';
import { type Destination, parseDestination } from '../config/sections/destination.ts';
import { fail, quoted } from '../model/fault.ts';

/** The access of a named client; compiled once per configuration. */
export interface ClientAccess {
  readonly client: NamedClient;
  readonly allowsModel: (
    destination: Pick<Destination, 'model'> & { readonly provider: { readonly name: string } },
  ) => boolean;
  /** Throws a `forbidden` fault for a destination or rule that isn't allowed, which names those that are. */
  readonly assertAllowed: (route: ClientRoute, config: Pick<Config, 'providers'>) => void;
  /** Throws a `forbidden` fault for a preset that isn't allowed, whatever its destinations are. */
  readonly assertPreset: (preset: string) => void;
}

/** The destination of a request, the rule that chose it and the preset it was sent to. */
interface ClientRoute extends Destination {
  readonly scenario: string;
  readonly preset?: string | undefined;
}

/** Compiles what each client may use, by name. */
export const compileAccess = (clients: readonly NamedClient[] = []): ReadonlyMap<string, ClientAccess> =>
  new Map(clients.map((client) => [client.name, compile(client)]));

const compile = (client: NamedClient): ClientAccess => {
  const { name, models, routes } = client;
  const globs = models?.map((glob) => {
    const named = parseDestination(glob);
    return { isWhole: named !== undefined, matches: globMatcher(named ? `${named.provider},${named.model}` : glob) };
  });
  const allowsModel: ClientAccess['allowsModel'] = ({ provider, model }) =>
    globs === undefined || globs.some(({ isWhole, matches }) => matches(isWhole ? `${provider.name},${model}` : model));
  const assertRoute = (route: string): void => {
    if (routes === undefined || routes.includes(route)) return;
    fail('forbidden', `The client ${name} may not use the route ${route}. It may use: ${listed(routes)}.`, {
      code: 'route_not_allowed',
    });
  };
  return {
    client,
    allowsModel,
    assertPreset: (preset) => assertRoute(presetRoute + preset),
    assertAllowed({ provider, model, scenario, preset }, config) {
      assertRoute(routeOf(scenario, preset));
      if (allowsModel({ provider, model })) return;
      const allowed = config.providers.flatMap((one) =>
        one.models.flatMap((listedModel) =>
          allowsModel({ provider: one, model: listedModel }) ? [`${one.name},${listedModel}`] : [],
        ),
      );
      fail(
        'forbidden',
        `The client ${name} may not use ${quoted(`${provider.name},${model}`)}. It may use: ${listed(allowed)}.`,
        {
          param: 'model',
          code: 'model_not_allowed',
        },
      );
    },
  };
};

/** A client's access. Throws an `unauthorized` fault if its key has been revoked since the request's head arrived. */
export const accessOf = (access: ReadonlyMap<string, ClientAccess>, name: string): ClientAccess =>
  access.get(name) ?? fail('unauthorized', `The key of the client ${name} has been revoked.`);

/** The name of a route as `CLIENTS` has it. A model that only one provider lists goes with the default. */
const routeOf = (scenario: string, preset: string | undefined): string => {
  if (preset !== undefined) return presetRoute + preset;
  if (scenario === 'tag') return 'explicit';
  return scenario === 'model' ? 'default' : scenario;
};

const listed = (names: readonly string[]): string => {
  if (names.length === 0) return 'no model that is configured';
  const shown = names.slice(0, maxShown).join('; ');
  return names.length > maxShown ? `${shown} and ${names.length - maxShown} more` : shown;
};

const maxShown = 12;
