import type { ProviderFile } from '../../api/config/config.ts';
import type { Transformer } from '../../api/config/transformers.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { LocalServers } from './local-servers.tsx';

/** Templates for a new provider: known vendors, a local server, an empty one. */
export const AddProvider = ({
  transformers,
  taken,
  onAdd,
}: {
  readonly transformers: readonly Transformer[];
  readonly taken: readonly string[];
  /** `format`: a vendor's. It is written down, so that another base URL doesn't change it. */
  readonly onAdd: (provider: ProviderFile & { readonly name: string }, format?: string) => void;
}) => {
  const add = (provider: ProviderFile & { readonly name: string }, format?: string): void =>
    onAdd({ ...provider, name: free(provider.name, taken) }, format);
  return (
    <Panel title="Add a provider" about="Start from a template. Everything can be changed before saving.">
      <div className="row">
        {transformers.map(
          ({ name, firstStart }) =>
            firstStart && (
              <Button
                key={name}
                icon="add"
                onClick={() =>
                  add(
                    {
                      name,
                      baseUrl: firstStart.baseUrl,
                      apiKey: `$${firstStart.variable}`,
                      models: firstStart.models,
                    },
                    name,
                  )
                }
              >
                {firstStart.title}
              </Button>
            ),
        )}
        <Button
          icon="add"
          onClick={() => add({ name: 'local', baseUrl: 'http://127.0.0.1:11434/v1', apiKey: '', models: [] })}
        >
          Local server
        </Button>
        <Button icon="add" onClick={() => add({ name: '', baseUrl: '', apiKey: '', models: [] })}>
          Custom
        </Button>
      </div>
      <LocalServers onAdd={add} />
    </Panel>
  );
};

/** Makes the name unique, ignoring case. */
const free = (name: string, taken: readonly string[]): string => {
  const isTaken = (one: string): boolean => taken.some((other) => other.toLowerCase() === one.toLowerCase());
  if (name === '' || !isTaken(name)) return name;
  for (let number = 2; ; number += 1) if (!isTaken(`${name}-${number}`)) return `${name}-${number}`;
};
