import type { Config, Provider, RouterConfig } from '../../../engine/config/config.ts';
import { validateConfig } from '../../../engine/config/validate.ts';

/** A provider that lists these models. */
export const provider = (name: string, ...models: readonly string[]): Provider => ({
  name,
  baseUrl: new URL('http://h.example'),
  apiKeys: [''],
  models,
  unset: [],
});

/** A configuration with these providers and routes. */
export const configWith = (providers: readonly Provider[], router: Partial<RouterConfig> = {}): Config => {
  const plain = validateConfig({}, {});
  if ('faults' in plain) throw new Error('the empty configuration has faults');
  return {
    ...plain.config,
    providers,
    router: { ...plain.config.router, ...router },
  };
};
