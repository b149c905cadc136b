import { useState } from 'react';
import type { ProviderFile } from '../../api/config/config.ts';
import { type KnownModel, lackTitles } from '../../api/config/models.ts';
import { isJsonObject, type Json } from '../../api/json.ts';
import { ChoicesField } from '../../config/fields/choices-field.tsx';
import { withInner } from '../../config/fields/field-path.ts';
import { useField } from '../../config/fields/form.ts';
import { modelNames, withModelMember } from '../../config/models.ts';
import { NumberField, SelectField } from '../../parts/controls/field.tsx';

const inputTitles: Readonly<Record<NonNullable<KnownModel['input']>[number], string>> = {
  text: 'Text',
  image: 'Images',
  pdf: 'PDF',
  audio: 'Audio',
  video: 'Video',
};

const limits = [
  { name: 'context', label: 'Window', hint: 'Tokens of its context window.' },
  { name: 'maxOutput', label: 'Longest answer', hint: 'Tokens.' },
] as const;

const prices = [
  { name: 'input', label: 'Price of prompts', hint: 'USD per million tokens.' },
  { name: 'output', label: 'Price of answers', hint: 'USD per million tokens.' },
  { name: 'cacheRead', label: 'Price of cache reads', hint: 'If absent, that of prompts.' },
  { name: 'cacheWrite', label: 'Price of cache writes', hint: 'If absent, that of prompts.' },
  { name: 'cacheWrite1h', label: 'Price of cache writes for an hour', hint: 'If absent, that of cache writes.' },
] as const;

/** Facts about a provider's models that override all other sources. */
export const ModelForm = ({
  provider,
  path,
  onChange,
}: {
  readonly provider: ProviderFile;
  readonly path: string;
  readonly onChange: (models: ProviderFile['models']) => void;
}) => {
  const { models = [] } = provider;
  const names = modelNames(provider);
  const [picked, setPicked] = useState('');
  const at = Math.max(0, names.indexOf(picked));
  const model = models[at];
  if (model === undefined) return null;
  const own = typeof model === 'string' ? {} : model;
  const place = `${path}.models[${at}]`;
  const set = (member: string, value: Json | undefined): void =>
    onChange(models.with(at, withModelMember(model, member, value)));
  const price = isJsonObject(own.price) ? own.price : {};
  return (
    <details className="call-extras">
      <summary>Facts about its models{models.some(hasFacts) && ' (set)'}</summary>
      <SelectField
        label="Model"
        hint="What is set here overrides what the provider’s list and the gateway know."
        value={names[at] ?? ''}
        options={[...new Set(names)].map((name) => ({ value: name, label: name }))}
        onChange={setPicked}
      />
      <div className="form-grid">
        {limits.map(({ name, ...frame }) => (
          <Amount
            key={name}
            {...frame}
            path={`${place}.${name}`}
            step={1}
            value={own[name]}
            onChange={(value) => set(name, value)}
          />
        ))}
        {prices.map(({ name, ...frame }) => (
          <Amount
            key={name}
            {...frame}
            path={`${place}.price.${name}`}
            step="any"
            value={price[name]}
            onChange={(value) => set('price', withInner({ price }, 'price', name, value).price)}
          />
        ))}
      </div>
      <ChoicesField
        label="Takes"
        path={`${place}.input`}
        titles={inputTitles}
        value={own.input ?? []}
        onChange={(value) => set('input', value.length > 0 ? value : undefined)}
      />
      <ChoicesField
        label="Lacks"
        path={`${place}.lacks`}
        titles={lackTitles}
        value={own.lacks ?? []}
        onChange={(value) => set('lacks', value.length > 0 ? value : undefined)}
      />
    </details>
  );
};

const Amount = ({
  path,
  value,
  ...field
}: {
  readonly label: string;
  readonly hint: string;
  readonly path: string;
  /** `any`: fractions are allowed. */
  readonly step: number | 'any';
  readonly value: Json | undefined;
  readonly onChange: (value: number | undefined) => void;
}) => <NumberField {...field} {...useField(path)} min={0} value={typeof value === 'number' ? value : undefined} />;

const hasFacts = (model: NonNullable<ProviderFile['models']>[number]): boolean =>
  typeof model !== 'string' &&
  [model.context, model.maxOutput, model.input, model.price, model.lacks].some((fact) => fact !== undefined);
