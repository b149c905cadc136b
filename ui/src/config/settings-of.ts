import { isJsonObject, type JsonObject } from '../api/json.ts';

/** The settings of the service in the configuration's schema, which have a group; presets can't have them. */
export const settingsOf = ({ properties }: JsonObject): Readonly<Record<string, JsonObject>> =>
  Object.fromEntries(
    Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, field]) =>
      isJsonObject(field) && field.group !== undefined ? [[name, field] as const] : [],
    ),
  );

const pageByField: Readonly<Record<string, string>> = {
  Providers: '/providers',
  Pools: '/routing',
  Router: '/routing',
  fallback: '/routing',
  CLIENTS: '/clients',
  transformers: '/routing',
};

/** The page on which a field is edited. */
export const pageOf = (path: string): string => {
  const [first = ''] = path.match(/^\w+/) ?? [];
  return pageByField[first] ?? '/settings';
};
