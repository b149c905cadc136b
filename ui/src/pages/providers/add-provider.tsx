import { useCallback, useEffect, useMemo, useState } from 'react';
import type { ConfigFile, ProviderFile } from '../../api/config/config.ts';
import { saveConfig } from '../../api/config/config-store.ts';
import { fetchModels, findLocalServers } from '../../api/config/providers.ts';
import { useLoad } from '../../api/use-load.ts';
import { offerUndo } from '../../config/draft/undo.ts';
import { useForm } from '../../config/fields/form.ts';
import { ModelPicker } from '../../config/fields/model-picker.tsx';
import { byDefault, routeOf, withRoute } from '../../config/rules.ts';
import { isDemo } from '../../config/spelling.ts';
import { CheckField, SecretField, SelectField, TextField } from '../../parts/controls/field.tsx';
import { FormDialog } from '../../parts/layout/dialog.tsx';
import { withFormat } from './format-entry.ts';
import { TestConnection } from './test-connection.tsx';
import { nameOfHost, type Vendor, vendorsOf } from './vendors.ts';

/** What is typed rests for so long before the provider is asked for its models, in milliseconds. */
const restMs = 500;

/** More models than this are picked from, rather than taken. */
const mostTaken = 12;

/** Adds a provider by its vendor, key and base URL; its models are fetched meanwhile. It is saved at once. */
export const AddProvider = ({ onClose }: { readonly onClose: () => void }) => {
  const { config, transformers } = useForm();
  const local = useLoad(findLocalServers);
  const vendors = useMemo(() => vendorsOf(transformers, local.data?.servers ?? []), [transformers, local.data]);
  const [picked, setPicked] = useState('');
  const [key, setKey] = useState('');
  const [address, setAddress] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>();
  const [asDefault, setAsDefault] = useState(() => leadsNowhere(config));
  const vendor = vendors.find(({ value }) => value === picked);
  const baseUrl = address.trim();
  const formats = transformers.filter(({ kind }) => kind === 'format').map(({ name }) => name);
  const provider = useMemo<ProviderFile & { readonly name: string }>(
    () => ({ name: freeName(config, vendor, baseUrl), baseUrl, apiKey: key.trim() }),
    [config, vendor, baseUrl, key],
  );
  const entries = withFormat(config, provider.name, vendor?.format, formats).transformers ?? [];
  const rested = useRested(JSON.stringify([provider, entries]));
  const isReady = /^https?:\/\/[^/]/.test(baseUrl) && vendor !== undefined;
  const listed = useLoad(
    useCallback(
      async (signal) => {
        const [asked, by] = JSON.parse(rested);
        return fetchModels({ provider: { ...asked, models: [] }, transformers: by }, signal);
      },
      [rested],
    ),
    undefined,
    isReady,
  );
  const found = isReady && listed.data?.ok ? listed.data.models : [];
  const usual = vendor?.models ?? [];
  const models = chosen ?? usualModels(found, usual);
  const whole = { ...provider, models };
  const pickVendor = (value: string): void => {
    const next = vendors.find((one) => one.value === value);
    setPicked(value);
    setAddress(next?.baseUrl ?? '');
    setKey((before) =>
      before === '' || before.startsWith('$') ? (next?.variable ? `$${next.variable}` : '') : before,
    );
    setChosen(undefined);
  };
  const save = async (): Promise<void> => {
    const { message } = await saveConfig((before) => added(before, whole, vendor?.format, formats, asDefault));
    offerUndo(message);
    onClose();
  };
  return (
    <FormDialog title="Add a provider" yes="Add" ready={isReady && models.length > 0} onClose={onClose} run={save}>
      <SelectField
        label="Vendor"
        value={picked}
        options={[{ value: '', label: 'Choose…' }, ...vendors.map(({ value, title }) => ({ value, label: title }))]}
        onChange={pickVendor}
      />
      <SecretField
        label="Key"
        hint="The key itself, or $NAME: a variable of the gateway’s environment, which keeps the key out of config.json. Empty if none is needed."
        value={key}
        onChange={setKey}
      />
      <TextField
        label="Base URL"
        inputMode="url"
        placeholder="https://"
        value={address}
        onChange={(next) => {
          setAddress(next);
          setChosen(undefined);
        }}
      />
      {isReady && (
        <ModelPicker
          listed={found}
          picked={models}
          problem={listed.error ?? (listed.data?.ok === false ? listed.data.message : undefined)}
          loading={listed.loading}
          onChange={setChosen}
        />
      )}
      {isReady && models.length > 0 && (
        <>
          <CheckField
            label={`Make ${provider.name},${models[0]} the default`}
            hint="It serves requests that match no rule."
            checked={asDefault}
            onChange={setAsDefault}
          />
          <TestConnection provider={whole} transformers={entries} />
        </>
      )}
    </FormDialog>
  );
};

/** Whether requests have no destination yet, or only the demo. */
const leadsNowhere = (config: ConfigFile): boolean => {
  const to = routeOf(config, byDefault);
  return to === '' || (config.Providers ?? []).some((one) => isDemo(one) && to.startsWith(`${one.name},`));
};

/** The vendor's usual models as far as they are listed; else a short list whole, and of a long one the first. */
const usualModels = (found: readonly string[], usual: readonly string[]): readonly string[] => {
  if (found.length === 0) return usual;
  const known = usual.filter((model) => found.includes(model));
  if (known.length > 0) return known;
  return found.length <= mostTaken ? found : found.slice(0, 1);
};

const added = (
  config: ConfigFile,
  provider: ProviderFile & { readonly name: string; readonly models: readonly string[] },
  format: string | undefined,
  formats: readonly string[],
  asDefault: boolean,
): ConfigFile => {
  const next = { ...config, Providers: [...(config.Providers ?? []), provider] };
  const formatted = format === undefined ? next : withFormat(next, provider.name, format, formats);
  return asDefault ? withRoute(formatted, byDefault, `${provider.name},${provider.models[0]}`) : formatted;
};

/** A name that no provider has, ignoring case. */
const freeName = ({ Providers = [] }: ConfigFile, vendor: Vendor | undefined, baseUrl: string): string => {
  const name = vendor?.name || nameOfHost(baseUrl);
  const isTaken = (one: string): boolean => Providers.some((other) => other.name?.toLowerCase() === one.toLowerCase());
  if (!isTaken(name)) return name;
  for (let number = 2; ; number += 1) if (!isTaken(`${name}-${number}`)) return `${name}-${number}`;
};

/** A text once it hasn't changed for a while. */
const useRested = (text: string): string => {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => setRested(text), restMs);
    return () => window.clearTimeout(timer);
  }, [text]);
  return rested;
};
