import { useState } from 'react';
import type { ProviderFile } from '../../api/config/config.ts';
import { useField } from '../../config/fields/form.ts';
import { modelNames } from '../../config/models.ts';
import { Button } from '../../parts/controls/button.tsx';
import { TextField } from '../../parts/controls/field.tsx';
import { Icon } from '../../parts/controls/icon.tsx';
import { FetchModels } from './fetch-models.tsx';

/** The models of a provider: typed, pasted, or picked from its own list. */
export const ModelsField = ({
  provider,
  path,
  onChange,
}: {
  readonly provider: ProviderFile;
  readonly path: string;
  /** Gets the names. */
  readonly onChange: (models: readonly string[]) => void;
}) => {
  const models = modelNames(provider);
  const [typed, setTyped] = useState('');
  const [fetches, setFetches] = useState(false);
  const add = (text: string): void => {
    const names = text.split(/[\s,;]+/).filter(Boolean);
    if (names.length > 0) onChange([...new Set([...models, ...names])]);
    setTyped('');
  };
  return (
    <div className="models">
      <TextField
        label="Models"
        hint="Press Enter to add one; paste several at once. The connection test uses the first."
        placeholder="Model name"
        {...useField(`${path}.models`)}
        value={typed}
        onChange={setTyped}
        onBlur={() => add(typed)}
        onPaste={(event) => {
          const text = event.clipboardData.getData('text');
          if (!/[\s,;]/.test(text.trim())) return;
          event.preventDefault();
          add(text);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== ',') return;
          event.preventDefault();
          add(typed);
        }}
      />
      {models.length > 0 && (
        <ul className="chips" aria-label="Models of this provider">
          {models.map((model) => (
            <li key={model} className="chip">
              <span>{model}</span>
              <button
                type="button"
                aria-label={`Remove ${model}`}
                onClick={() => onChange(models.filter((one) => one !== model))}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div className="row">
        <Button icon="search" aria-expanded={fetches} onClick={() => setFetches(!fetches)}>
          Fetch from provider
        </Button>
      </div>
      {fetches && <FetchModels provider={provider} picked={models} onChange={onChange} />}
    </div>
  );
};
