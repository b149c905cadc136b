import { from, map, type Observable } from 'rxjs';
import { fill, type Reconciled, type Routed } from '../exchange.ts';
import type { CommandKeys } from '../upstream/keys/command-keys.ts';

/** Puts the key that the provider's command prints in the place of the text that stands for it. Waits only where there is none yet. */
export const withCommandKey =
  <T>(keys: CommandKeys, then: (routed: Reconciled) => T) =>
  (routed: Reconciled): T | Observable<T> => {
    const { provider } = routed.resolution;
    const command = provider.keyCommands?.get(routed.apiKey);
    if (!command) return then(routed);
    const key = keys.read(command, provider.name);
    if (typeof key === 'string') return then(fill(routed, { apiKey: key }));
    return from(key).pipe(map((printed) => then(fill(routed, { apiKey: printed }))));
  };

/** Whether a refused attempt had a key by command, and another attempt may have another one. */
export const renewsKey = (
  { resolution, apiKey }: Pick<Routed, 'resolution' | 'apiKey'>,
  keys: CommandKeys,
): boolean => {
  const commands = resolution.provider.keyCommands;
  return commands !== undefined && [...commands.values()].some((command) => keys.renew(command, apiKey));
};
