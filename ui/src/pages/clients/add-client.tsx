import { useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { addClient } from '../../api/clients.ts';
import { readConfigSchema } from '../../api/config/config.ts';
import { reloadChangedConfig } from '../../api/config/config-store.ts';
import { isJsonObject, type JsonObject } from '../../api/json.ts';
import { useLoad } from '../../api/use-load.ts';
import { SchemaForm } from '../../config/fields/schema-form.tsx';
import { Button } from '../../parts/controls/button.tsx';
import { CopyButton } from '../../parts/controls/copy-button.tsx';
import { CheckField, NumberField, SelectField, TextField } from '../../parts/controls/field.tsx';
import { Dialog, FormDialog } from '../../parts/layout/dialog.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { ToolSetup } from './tool-setup.tsx';

/** The client whose key is for the programs that call without one so far. */
const existingTools = 'existing-tools';

interface AddClientProps {
  /** Requests need no key yet, and do once there is a client. */
  readonly endsKeylessUse: boolean;
  readonly onAdded: () => void;
  readonly onClose: () => void;
}

interface ShownKey {
  readonly name: string;
  readonly key: string;
}

/** Adds a client by its name and budget, and shows its key, which the gateway doesn't keep, in what the tools need. */
export const AddClient = ({ endsKeylessUse, onAdded, onClose }: AddClientProps) => {
  // What is asked stays while the list behind the dialog is read again.
  const [isFirst] = useState(endsKeylessUse);
  const [typedName, setName] = useState('');
  const [usd, setUsd] = useState<number>();
  const [per, setPer] = useState<'day' | 'month'>('month');
  const [limits, setLimits] = useState<JsonObject>({});
  const [forTools, setForTools] = useState(isFirst);
  const [keys, setKeys] = useState<readonly ShownKey[]>([]);
  const [error, setError] = useState<string>();
  const { data: schema } = useLoad(readConfigSchema);
  const name = typedName.trim();
  const limitSchema = schema && limitsOf(schema);
  const add = async (): Promise<void> => {
    const { tokens, ...more } = limits;
    const budget = { ...(tokens !== undefined && { tokens }), ...(usd !== undefined && { usd }) };
    const { key } = await addClient({
      name,
      ...more,
      ...(Object.keys(budget).length > 0 && { budget: { ...budget, per } }),
    });
    const made = [{ name, key }];
    // What fails from here on is said beside the key, which is shown in any case.
    try {
      if (forTools && name !== existingTools)
        made.push({ name: existingTools, key: (await addClient({ name: existingTools })).key });
    } catch (caught) {
      setError(wordError(caught));
    }
    setKeys(made);
    onAdded();
    await reloadChangedConfig();
  };
  const [own] = keys;
  if (own) {
    return (
      <Dialog
        wide
        title={`Key of ${keys.map((one) => one.name).join(' and of ')}`}
        closable={false}
        onClose={onClose}
        actions={
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        {error !== undefined && <Notice kind="failed">{error}</Notice>}
        <Notice kind="warn">Copy it now: the gateway keeps only its digest and can’t show it again.</Notice>
        {keys.map((one) => (
          <div key={one.name} className="stack-tight">
            <TextField
              label={one.name === existingTools ? 'Key of existing-tools' : 'Key'}
              readOnly
              className="mono"
              value={one.key}
              onChange={() => undefined}
            />
            <div className="row">
              <CopyButton
                text={one.key}
                label={one.name === existingTools ? 'Copy the key of existing-tools' : 'Copy the key'}
              />
            </div>
          </div>
        ))}
        <ToolSetup ownKey={own.key} />
      </Dialog>
    );
  }
  return (
    <FormDialog title="Add a client" yes="Add" ready={name !== ''} onClose={onClose} run={add}>
      {isFirst && (
        <>
          <Notice kind="warn">
            Requests without a key will be refused: programs that use this gateway now get 401 until they send a key.
          </Notice>
          <CheckField
            label="Also create a key for them"
            hint={`A second client, ${existingTools}, without limits.`}
            checked={forTools}
            onChange={setForTools}
          />
        </>
      )}
      <TextField
        label="Name"
        hint="Letters, digits, dots, hyphens and underscores."
        value={typedName}
        onChange={setName}
      />
      <div className="form-grid">
        <NumberField
          label="Budget in USD"
          hint="Empty: none. Requests to models of unknown price don’t count."
          min={0}
          step="any"
          value={usd}
          onChange={setUsd}
        />
        <SelectField
          label="Budget per"
          value={per}
          options={[
            { value: 'day', label: 'Day' },
            { value: 'month', label: 'Month' },
          ]}
          onChange={setPer}
        />
      </div>
      {limitSchema && (
        <details>
          <summary>Limits{Object.keys(limits).length > 0 && ' (set)'}</summary>
          <SchemaForm schema={limitSchema} path="" titles={titles} value={limits} onChange={setLimits} />
        </details>
      )}
    </FormDialog>
  );
};

const titles = {
  models: 'Models',
  routes: 'Routes',
  limits: 'At most',
  tokens: 'Budget in tokens',
  expires: 'Expires',
};

/** The schema of a client without what the form above has; the budget in tokens is beside the limits. */
const limitsOf = ({ properties }: JsonObject): JsonObject | undefined => {
  const list = isJsonObject(properties) ? properties.CLIENTS : undefined;
  const client = isJsonObject(list) && isJsonObject(list.items) ? list.items.properties : undefined;
  if (!isJsonObject(client)) return undefined;
  const { models, routes, limits, budget, expires } = client;
  const tokens = isJsonObject(budget) && isJsonObject(budget.properties) ? budget.properties.tokens : undefined;
  return { type: 'object', additionalProperties: false, properties: { limits, tokens, models, routes, expires } };
};
