import { useRef } from 'react';
import type { ProviderFile } from '../../api/config/config.ts';
import type { Json } from '../../api/json.ts';
import type { Upstream } from '../../api/upstreams.ts';
import { withMember } from '../../config/fields/field-path.ts';
import { useField, useForm } from '../../config/fields/form.ts';
import { withNames } from '../../config/models.ts';
import { renameProvider } from '../../config/rename-provider.ts';
import { addressOf, spelling } from '../../config/spelling.ts';
import { SelectField, TextField } from '../../parts/controls/field.tsx';
import { BaseUrlsField } from './base-urls-field.tsx';
import { CallExtras } from './call-extras.tsx';
import { formatOf, withFormat } from './format-entry.ts';
import { KeysField } from './keys-field.tsx';
import { ModelFacts } from './model-facts.tsx';
import { ModelForm } from './model-form.tsx';
import { ModelsField } from './models-field.tsx';
import { ProviderTimeouts } from './provider-timeouts.tsx';
import { TestConnection } from './test-connection.tsx';
import { UpstreamState } from './upstream-state.tsx';

/** The form for one provider. */
export const ProviderForm = ({
  provider,
  at,
  formats,
  upstream,
}: {
  readonly provider: ProviderFile;
  readonly at: number;
  /** Names of all formats. */
  readonly formats: readonly string[];
  readonly upstream: Upstream | undefined;
}) => {
  const { config, change } = useForm();
  const path = `Providers[${at}]`;
  const { name = '' } = provider;
  const urlName = spelling(provider, 'baseUrl');
  const nameBefore = useRef(name);
  const set = (field: string, value: Json | undefined): void =>
    change((before) => ({
      ...before,
      Providers: (before.Providers ?? []).with(at, withMember(provider, field, value)),
    }));
  // Only on blur: a partly typed name may be another provider's.
  const follow = (): void => {
    const from = nameBefore.current;
    const isOthers = (config.Providers ?? []).some(
      (other, index) => index !== at && [from, name].includes(other.name ?? ''),
    );
    if (!isOthers) change((before) => renameProvider(before, from, name));
  };
  return (
    <>
      <div className="form-grid">
        <TextField
          label="Name"
          hint="The part before the comma in provider,model. Routes that use the old name are updated."
          {...useField(`${path}.name`)}
          value={name}
          onFocus={() => {
            // A name that is cleared while typing still counts as the old one.
            if (name !== '') nameBefore.current = name;
          }}
          onBlur={follow}
          onChange={(value) => set('name', value)}
        />
        <TextField
          label="Base URL"
          hint="The base URL of its API, with or without /v1."
          inputMode="url"
          placeholder="https://"
          {...useField(`${path}.${urlName}`)}
          value={addressOf(provider)}
          onChange={(value) => set(urlName, value)}
        />
        <SelectField
          label="Format"
          hint="The API format. Saved as an entry in the transformers."
          value={formatOf(config, name, formats) ?? ''}
          options={[
            { value: '', label: 'Automatic, by base URL' },
            ...formats.map((format) => ({ value: format, label: format })),
          ]}
          disabled={name === ''}
          onChange={(format) => change((before) => withFormat(before, name, format || undefined, formats))}
        />
      </div>
      <BaseUrlsField provider={provider} path={path} onChange={(urls) => set('otherBaseUrls', urls)} />
      <SelectField
        label="Credentials"
        hint="A client’s own key or login goes to this provider alone."
        {...useField(`${path}.credentials`)}
        value={provider.credentials ?? ''}
        options={[
          { value: '', label: 'The key below' },
          { value: 'client', label: 'The client’s own' },
        ]}
        onChange={(value) => set('credentials', value || undefined)}
      />
      {provider.credentials !== 'client' && (
        <KeysField provider={provider} path={path} onChange={(keys) => set(spelling(provider, 'apiKey'), keys)} />
      )}
      <ModelsField provider={provider} path={path} onChange={(names) => set('models', withNames(provider, names))} />
      {upstream && <ModelFacts provider={name} />}
      <ModelForm provider={provider} path={path} onChange={(models) => set('models', models)} />
      <CallExtras provider={provider} path={path} onChange={set} />
      <ProviderTimeouts provider={provider} path={path} onChange={(timeouts) => set('timeouts', timeouts)} />
      {upstream && <UpstreamState upstream={upstream} />}
      <TestConnection provider={provider} />
    </>
  );
};
