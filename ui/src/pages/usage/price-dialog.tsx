import { useState } from 'react';
import { saveConfig } from '../../api/config/config-store.ts';
import { modelNames, withModelMember } from '../../config/models.ts';
import { NumberField } from '../../parts/controls/field.tsx';
import { FormDialog } from '../../parts/layout/dialog.tsx';
import { toast } from '../../state/toast.ts';
import type { PricedModel } from './usage-table.tsx';

const fields = [
  { name: 'input', label: 'Prompts', hint: 'USD per million tokens.' },
  { name: 'output', label: 'Answers', hint: 'USD per million tokens.' },
  { name: 'cacheRead', label: 'Cache reads', hint: 'Empty: as prompts.' },
  { name: 'cacheWrite', label: 'Cache writes', hint: 'Empty: as prompts.' },
] as const;

type Field = (typeof fields)[number]['name'];

/** Sets a model's price in the configuration. */
export const PriceDialog = ({
  model: { provider, model, price, source },
  onSaved,
  onClose,
}: {
  readonly model: PricedModel;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}) => {
  const [typed, setTyped] = useState<Readonly<Partial<Record<Field, number | undefined>>>>(() =>
    Object.fromEntries(fields.map(({ name }) => [name, price?.[name]])),
  );
  const save = async (): Promise<void> => {
    const given = Object.fromEntries(
      Object.entries(typed).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    await saveConfig((config) => ({
      ...config,
      Providers: (config.Providers ?? []).map((one) => {
        const at = one.name === provider ? modelNames(one).indexOf(model) : -1;
        const own = one.models?.[at];
        if (own === undefined || !one.models) return one;
        return { ...one, models: one.models.with(at, withModelMember(own, 'price', given)) };
      }),
    }));
    toast(`The price of ${provider},${model} was saved.`);
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={`Price of ${provider},${model}`}
      yes="Save"
      ready={typed.input !== undefined && typed.output !== undefined}
      onClose={onClose}
      run={save}
    >
      <div className="form-grid">
        {fields.map(({ name, label, hint }) => (
          <NumberField
            key={name}
            label={label}
            hint={hint}
            min={0}
            step="any"
            value={typed[name]}
            onChange={(value) => setTyped({ ...typed, [name]: value })}
          />
        ))}
      </div>
      <p className="soft small">Now: {source}. Requests that have ended keep the price that was known then.</p>
    </FormDialog>
  );
};
