import type { ProviderFile } from '../../api/config.ts';
import type { Transformer } from '../../api/transformers.ts';
import { Button } from '../../parts/button.tsx';
import { Panel } from '../../parts/panel.tsx';

/** Beginnings for a new provider: those of the vendors that the gateway knows, a server on this machine, an empty one. */
export const AddProvider = ({
  transformers,
  taken,
  onAdd,
}: {
  readonly transformers: readonly Transformer[];
  readonly taken: readonly string[];
  readonly onAdd: (provider: ProviderFile) => void;
}) => {
  const add = (provider: ProviderFile & { readonly name: string }): void =>
    onAdd({ ...provider, name: free(provider.name, taken) });
  return (
    <Panel
      title="Add a provider"
      about="Each begins with what is known of it; everything can be changed before it is saved."
    >
      <div className="row">
        {transformers.map(
          ({ name, firstStart }) =>
            firstStart && (
              <Button
                key={name}
                icon="add"
                onClick={() =>
                  add({
                    name,
                    baseUrl: firstStart.baseUrl,
                    apiKey: `$${firstStart.variable}`,
                    models: firstStart.models,
                  })
                }
              >
                {name}
              </Button>
            ),
        )}
        <Button
          icon="add"
          onClick={() => add({ name: 'local', baseUrl: 'http://127.0.0.1:11434/v1', apiKey: '', models: [] })}
        >
          a server of your own
        </Button>
        <Button icon="add" onClick={() => add({ name: '', baseUrl: '', apiKey: '', models: [] })}>
          another
        </Button>
      </div>
    </Panel>
  );
};

/** Names are unique, whatever their case. */
const free = (name: string, taken: readonly string[]): string => {
  const isTaken = (one: string): boolean => taken.some((other) => other.toLowerCase() === one.toLowerCase());
  if (name === '' || !isTaken(name)) return name;
  for (let number = 2; ; number += 1) if (!isTaken(`${name}-${number}`)) return `${name}-${number}`;
};
