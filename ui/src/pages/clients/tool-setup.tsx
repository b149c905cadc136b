import { useCallback, useRef, useState } from 'react';
import { gatewayUrl } from '../../api/gateway-url.ts';
import { readGuides } from '../../api/guides.ts';
import { protocolTitles } from '../../api/protocols.ts';
import { useLoad } from '../../api/use-load.ts';
import { Described } from '../../config/fields/described.tsx';
import { useForm } from '../../config/fields/form.ts';
import { routedName } from '../../config/rules.ts';
import { ComboField } from '../../parts/controls/combo-field.tsx';
import { SelectField } from '../../parts/controls/field.tsx';
import { Fold } from '../../parts/layout/fold.tsx';
import { LoadFailed, Loading, Notice } from '../../parts/layout/notice.tsx';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { href } from '../../router/route.ts';
import { kept } from '../../state/kept.ts';
import { Check } from './check.tsx';

const shells = { posix: 'bash, zsh', fish: 'fish', powershell: 'PowerShell' };

const toolPlace = kept('local', 'connect.client');
const shellPlace = kept('local', 'connect.shell');

/** How a tool is pointed at the gateway: what to copy, with the key in it if it is available, and a check. */
export const ToolSetup = ({
  preset = '',
  isKeyNeeded = false,
  ownKey,
}: {
  readonly preset?: string;
  readonly isKeyNeeded?: boolean | undefined;
  /** A key that is shown once. */
  readonly ownKey?: string;
}) => {
  const { saved } = useForm();
  const [tool, setTool] = useState(() => toolPlace.read());
  const [shell, setShell] = useState(() => shellPlace.read() ?? 'posix');
  const [picked, setModel] = useState<string>();
  const base = `${gatewayUrl()}${preset === '' ? '' : `/preset/${encodeURIComponent(preset)}`}`;
  const key = isKeyNeeded || ownKey !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a saved configuration has other models
  const load = useCallback(
    (signal: AbortSignal) => {
      const model = picked === undefined ? {} : { model: picked || routedName };
      return readGuides({ base, ...model, shell, key }, signal);
    },
    [base, picked, shell, key, saved],
  );
  const { data: fresh, error, reload } = useLoad(load);
  // While others are on their way, those before stay: the field that is typed into keeps the focus.
  const held = useRef(fresh);
  held.current = fresh ?? held.current;
  const data = held.current;
  const guide = data?.guides.find(({ name }) => name === tool) ?? data?.guides[0];
  if (!data || !guide)
    return error === undefined ? (
      <Loading what="the guides" />
    ) : (
      <LoadFailed what="the guides" error={error} onRetry={reload} />
    );
  const { models, keyVariable } = data;
  const asked = picked ?? (data.model === routedName ? '' : data.model);
  const keyLine = ownKey === undefined ? undefined : data.keyLine.replace('{key}', () => ownKey);
  return (
    <div className="stack">
      <div className="form-grid">
        <SelectField
          label="Tool"
          value={guide.name}
          options={data.guides.map(({ name, title }) => ({ value: name, label: title }))}
          onChange={(name) => {
            toolPlace.write(name);
            setTool(name);
          }}
        />
        <ComboField
          label="Model"
          placeholder="Chosen by the rules"
          value={asked}
          onChange={setModel}
          options={models.map((value) => ({ value }))}
          error={error}
        />
        <SelectField
          label="Shell"
          value={shell}
          options={Object.entries(shells).map(([value, label]) => ({ value, label }))}
          onChange={(next) => {
            shellPlace.write(next);
            setShell(next);
          }}
        />
      </div>
      {models.length === 0 && (
        <Notice kind="warn" title="No models available yet">
          <a href={href('/providers')}>Add a provider</a> first.
        </Notice>
      )}
      {keyLine !== undefined && <CodeBlock label="The key" text={keyLine} />}
      {guide.snippets.map(({ label, text }) => (
        <CodeBlock key={label} label={label} text={text} />
      ))}
      <p className="soft small">
        Base URL <code>{guide.baseUrl}</code>, {protocolTitles[guide.protocol]}.{' '}
        {key ? (
          <>
            The key is read from <code>{keyVariable}</code>.
          </>
        ) : (
          'Requests need no key: any value works.'
        )}
      </p>
      <ul className="stack-tight soft small">
        {guide.notes.map((note) => (
          <li key={note}>
            <Described text={note} />
          </li>
        ))}
      </ul>
      <Fold title="Behind a proxy, or cannot connect?">
        <p className="soft">A proxy set in HTTP_PROXY cannot reach this machine. Exclude local addresses from it:</p>
        <CodeBlock label="Bypass the proxy" text={data.withoutProxy} />
        <p className="soft">
          If localhost resolves to another program, use 127.0.0.1. Other machines and containers can reach the gateway
          only if HOST and APIKEY are set.
        </p>
      </Fold>
      {ownKey === undefined && <Check key={guide.name} guide={guide} base={base} model={data.model} />}
    </div>
  );
};
