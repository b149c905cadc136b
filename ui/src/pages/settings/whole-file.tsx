import { useMemo } from 'react';
import type { ConfigFile } from '../../api/config.ts';
import { isJsonObject, type Json } from '../../api/json.ts';
import { useForm } from '../../config/form.ts';
import { hideKeys, putKeysBack } from '../../config/hide-keys.ts';
import { JsonField } from '../../config/json-field.tsx';
import { Panel } from '../../parts/panel.tsx';

/** By what the editor of the whole file is found. */
export const wholeFilePath = 'config.json';

/** The whole configuration as JSON. Keys that are written out have stand-ins; the gateway's findings are marked at their places. */
export const WholeFile = () => {
  const { config, saved, change, faults, warnings } = useForm();
  const { shown } = useMemo(() => hideKeys(config), [config]);
  const keys = useMemo(() => new Map([...hideKeys(saved).keys, ...hideKeys(config).keys]), [saved, config]);
  const findings = useMemo(
    () => [...faults, ...warnings.map((warning) => ({ ...warning, severity: 'warning' as const }))],
    [faults, warnings],
  );
  const problemOf = (value: Json): string | undefined => {
    if (!isJsonObject(value)) return 'must be a JSON object';
    const { unknown } = putKeysBack(value, keys);
    return unknown.length === 0 ? undefined : `holds a stand-in for no key that there is: ${unknown.join(', ')}`;
  };
  return (
    <Panel
      title="config.json"
      about="Comments in the file are not shown here; saving keeps them where the change lets it. Keys that are written out are hidden behind “••••”: leave the text as it is to keep a key, replace it to change it."
    >
      <JsonField
        label="config.json"
        unlabelled
        path={wholeFilePath}
        value={shown}
        findings={findings}
        problemOf={problemOf}
        maxLines={34}
        onChange={(value) => change(() => fileOf(value === undefined ? {} : putKeysBack(value, keys).value))}
      />
    </Panel>
  );
};

/** Whatever is wrong with it, the gateway's check says so. */
const fileOf = (value: Json): ConfigFile => (isJsonObject(value) ? value : {}) as ConfigFile;
