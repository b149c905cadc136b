import { useMemo } from 'react';
import type { ConfigFile } from '../../api/config.ts';
import { isJsonObject, type Json } from '../../api/json.ts';
import { useForm } from '../../config/form.ts';
import { hideKeys, putKeysBack } from '../../config/hide-keys.ts';
import { JsonField } from '../../config/json-field.tsx';
import { Panel } from '../../parts/panel.tsx';

/** The path by which the editor is found. */
export const wholeFilePath = 'config.json';

/** Edits the whole configuration as JSON. Keys in plain text have placeholders; findings are marked in place. */
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
    return unknown.length === 0 ? undefined : `contains unknown placeholders: ${unknown.join(', ')}`;
  };
  return (
    <Panel
      title="config.json"
      about="Comments are not shown here, but saving keeps them where possible. Keys in plain text are shown as “••••”: leave a placeholder to keep the key, replace it to change the key."
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

/** The gateway's check reports a wrong shape. */
const fileOf = (value: Json): ConfigFile => (isJsonObject(value) ? value : {}) as ConfigFile;
