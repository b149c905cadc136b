import { type FormEvent, useId, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { addClient } from '../../api/clients.ts';
import { reloadChangedConfig } from '../../api/config/config-store.ts';
import type { JsonObject } from '../../api/json.ts';
import { Button } from '../../parts/controls/button.tsx';
import { CopyButton } from '../../parts/controls/copy-button.tsx';
import { CheckField, NumberField, SelectField, TextField } from '../../parts/controls/field.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { Notice } from '../../parts/layout/notice.tsx';

interface Draft {
  readonly name: string;
  /** Separated by blanks; empty: all. */
  readonly models: string;
  readonly routes: string;
  readonly requestsPerMinute: number | undefined;
  readonly tokensPerMinute: number | undefined;
  readonly streams: number | undefined;
  readonly tokens: number | undefined;
  readonly usd: number | undefined;
  readonly per: 'day' | 'month';
}

const emptyDraft: Draft = {
  name: '',
  models: '',
  routes: '',
  requestsPerMinute: undefined,
  tokensPerMinute: undefined,
  streams: undefined,
  tokens: undefined,
  usd: undefined,
  per: 'month',
};

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

/** Adds a client, and shows its key, which the gateway doesn't keep. */
export const AddClient = ({ endsKeylessUse, onAdded, onClose }: AddClientProps) => {
  // What is asked stays while the list behind the dialog is read anew.
  const [isFirst] = useState(endsKeylessUse);
  const [draft, setDraft] = useState(emptyDraft);
  const [forTools, setForTools] = useState(isFirst);
  const [keys, setKeys] = useState<readonly ShownKey[]>([]);
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const form = useId();
  const set = (change: Partial<Draft>): void => setDraft((before) => ({ ...before, ...change }));
  const add = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const own = { name: draft.name.trim(), key: (await addClient(entryOf(draft))).key };
      setKeys([own]);
      onAdded();
      if (forTools && own.name !== existingTools) {
        const { key } = await addClient({ name: existingTools });
        setKeys([own, { name: existingTools, key }]);
        onAdded();
      }
      await reloadChangedConfig();
    } catch (caught) {
      setError(wordError(caught));
    }
    setBusy(false);
  };
  if (keys.length > 0) {
    return (
      <Dialog
        title={`Key of ${keys.map(({ name }) => name).join(' and of ')}`}
        closable={false}
        onClose={onClose}
        actions={
          <Button look="primary" busy={busy} onClick={onClose}>
            Done
          </Button>
        }
      >
        {error !== undefined && <Notice kind="failed">{error}</Notice>}
        <Notice kind="warn">Copy it now: the gateway keeps only its digest and can’t show it again.</Notice>
        {keys.map(({ name, key }) => (
          <div key={name} className="stack">
            <TextField
              label={name === existingTools ? 'Key of existing-tools' : 'Key'}
              readOnly
              className="mono"
              value={key}
              onChange={() => undefined}
            />
            <CopyButton text={key} label={name === existingTools ? 'Copy the key of existing-tools' : 'Copy the key'} />
          </div>
        ))}
      </Dialog>
    );
  }
  return (
    <Dialog
      title="Add a client"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={form} busy={busy} disabled={draft.name.trim() === ''}>
            Add
          </Button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={(event) => void add(event)}>
        {error !== undefined && <Notice kind="failed">{error}</Notice>}
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
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        <TextField
          label="Models"
          hint="Separated by blanks, with * for any text: large-* local,*. Empty: all."
          value={draft.models}
          onChange={(models) => set({ models })}
        />
        <TextField
          label="Routes"
          hint="Separated by blanks: default, scenarios, rule/NAME, module, explicit, preset/NAME. Empty: all."
          value={draft.routes}
          onChange={(routes) => set({ routes })}
        />
        <NumberField
          label="Requests per minute"
          min={1}
          value={draft.requestsPerMinute}
          onChange={(requestsPerMinute) => set({ requestsPerMinute })}
        />
        <NumberField
          label="Tokens per minute"
          min={1}
          value={draft.tokensPerMinute}
          onChange={(tokensPerMinute) => set({ tokensPerMinute })}
        />
        <NumberField label="Answers at a time" min={1} value={draft.streams} onChange={(streams) => set({ streams })} />
        <NumberField label="Budget in tokens" min={1} value={draft.tokens} onChange={(tokens) => set({ tokens })} />
        <NumberField
          label="Budget in USD"
          hint="Requests to models of unknown price don’t count."
          min={0}
          step="any"
          value={draft.usd}
          onChange={(usd) => set({ usd })}
        />
        <SelectField
          label="Budget per"
          value={draft.per}
          options={[
            { value: 'day', label: 'Day' },
            { value: 'month', label: 'Month' },
          ]}
          onChange={(per) => set({ per })}
        />
      </form>
    </Dialog>
  );
};

const entryOf = (draft: Draft): JsonObject => {
  const { requestsPerMinute, tokensPerMinute, streams, tokens, usd, per } = draft;
  const [models, routes] = [wordsOf(draft.models), wordsOf(draft.routes)];
  const limits = {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(streams !== undefined && { streams }),
  };
  return {
    name: draft.name.trim(),
    ...(models.length > 0 && { models }),
    ...(routes.length > 0 && { routes }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...((tokens ?? usd) !== undefined && {
      budget: { ...(tokens !== undefined && { tokens }), ...(usd !== undefined && { usd }), per },
    }),
  };
};

const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');
