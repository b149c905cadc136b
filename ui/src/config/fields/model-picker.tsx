import { useState } from 'react';
import { counted } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { CheckField, TextField } from '../../parts/controls/field.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { useField } from './form.ts';

/** More are filtered. */
const shortList = 8;

/** Picks models from a list; other names are typed. */
export const ModelPicker = ({
  path = '',
  legend = 'Models',
  listed,
  picked,
  problem,
  loading = false,
  onChange,
}: {
  /** Path of the names in the configuration. */
  readonly path?: string;
  readonly legend?: string;
  readonly listed: readonly string[];
  readonly picked: readonly string[];
  /** Why there is no list. */
  readonly problem?: string | undefined;
  readonly loading?: boolean;
  readonly onChange: (models: readonly string[]) => void;
}) => {
  const { error, ...mark } = useField(path);
  const [filter, setFilter] = useState('');
  const all = [...new Set([...picked, ...listed])];
  const fitting = all.filter((model) => model.toLowerCase().includes(filter.trim().toLowerCase()));
  const missing = fitting.filter((model) => !picked.includes(model));
  const typed = filter.trim();
  const add = (): void => {
    onChange([...new Set([...picked, ...(fitting.length > 0 && typed === '' ? fitting : [typed])])]);
    setFilter('');
  };
  return (
    <fieldset className="model-picker" {...mark} tabIndex={-1}>
      <legend className="field-label">{legend}</legend>
      <div className="row">
        <TextField
          label="Filter the models, or type a name"
          unlabelled
          placeholder={all.length > shortList ? 'Filter, or type a name' : 'Type a name to add it'}
          value={filter}
          onChange={setFilter}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || typed === '') return;
            event.preventDefault();
            if (fitting.length === 1 && fitting[0] !== undefined) onChange([...new Set([...picked, fitting[0]])]);
            else if (!all.includes(typed)) add();
            setFilter('');
          }}
        />
        <span className="soft small" role="status">
          {loading ? 'Asking the provider…' : `${picked.length} of ${counted(all.length, 'model')}`}
        </span>
        {typed !== '' && fitting.length === 0 && (
          <Button icon="add" onClick={add}>
            Add {typed}
          </Button>
        )}
        {missing.length > 0 && typed !== '' && (
          <Button onClick={() => onChange([...picked, ...missing])}>Add all shown</Button>
        )}
      </div>
      {problem !== undefined && (
        <Notice kind="warn" title="Could not fetch the list">
          {problem} Model names can be typed.
        </Notice>
      )}
      {fitting.length > 0 && (
        <div className="model-picker-list">
          {fitting.map((model) => (
            <CheckField
              key={model}
              label={model}
              checked={picked.includes(model)}
              onChange={(isPicked) => onChange(isPicked ? [...picked, model] : picked.filter((one) => one !== model))}
            />
          ))}
        </div>
      )}
      {error !== undefined && <p className="field-error">{error}</p>}
    </fieldset>
  );
};
