import { useMemo } from 'react';
import type { ConfigFile } from '../../api/config/config.ts';
import { isJsonObject, type Json } from '../../api/json.ts';
import { useForm } from '../../config/fields/form.ts';
import { JsonField } from '../../config/fields/json-field.tsx';
import { Panel } from '../../parts/layout/panel.tsx';

/** The path by which the editor is found. */
export const wholeFilePath = 'config.json';

/** Edits the whole configuration as JSON; findings are marked in place. */
export const WholeFile = () => {
  const { config, change, faults, warnings } = useForm();
  const findings = useMemo(
    () => [...faults, ...warnings.map((warning) => ({ ...warning, severity: 'warning' as const }))],
    [faults, warnings],
  );
  return (
    <Panel
      title="config.json"
      about="Comments are not shown here, but saving keeps them where possible. A stored secret is shown as “••••”: leave the placeholder to keep the secret, replace it to change the secret."
    >
      <JsonField
        label="config.json"
        unlabelled
        path={wholeFilePath}
        value={config}
        findings={findings}
        problemOf={(value) => (isJsonObject(value) ? undefined : 'must be a JSON object')}
        maxLines={34}
        onChange={(value) => change(() => fileOf(value))}
      />
    </Panel>
  );
};

/** The gateway's check reports a wrong shape. */
const fileOf = (value: Json | undefined): ConfigFile => (isJsonObject(value) ? value : {}) as ConfigFile;
