import { useState } from 'react';
import { readModelFacts } from '../../api/config/models.ts';
import { gatewayUrl } from '../../api/gateway-url.ts';
import { protocolTitles } from '../../api/protocols.ts';
import { useLoad } from '../../api/use-load.ts';
import { Described } from '../../config/fields/described.tsx';
import { useForm } from '../../config/fields/form.ts';
import { byDefault, hasDefault, routedName, routeOf } from '../../config/rules.ts';
import { ComboField } from '../../parts/controls/combo-field.tsx';
import { SelectField } from '../../parts/controls/field.tsx';
import { Fold } from '../../parts/layout/fold.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { href } from '../../router/route.ts';
import { kept } from '../../state/kept.ts';
import { Check } from './check.tsx';
import { baseOf, type Connection } from './guides/client-guide.ts';
import { clientGuides } from './guides/index.ts';
import { assignments, keyVariable, type Shell, shellLabel, shells, shellTitles, withoutProxy } from './guides/shell.ts';

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
  // Not the models that clients are listed: this page may have no client’s key.
  const models = useLoad(readModelFacts);
  const [tool, setTool] = useState(() => toolPlace.read());
  const [shell, setShell] = useState<Shell>(() => shells.find((one) => one === shellPlace.read()) ?? 'bash');
  const [picked, setModel] = useState<string>();
  const guide = clientGuides.find(({ name }) => name === tool) ?? clientGuides[0];
  const listed = (models.data ?? []).flatMap((one) =>
    one.models.map(({ model, context, maxOutput }) => ({ id: `${one.provider},${model}`, context, maxOutput })),
  );
  const usual = listed.find(({ id }) => id === routeOf(saved, byDefault));
  // Without a default, the rules leave most requests without a model.
  const asked = picked ?? (hasDefault(saved) ? '' : (listed[0]?.id ?? ''));
  const connection: Connection = {
    origin: `${gatewayUrl()}${preset === '' ? '' : `/preset/${encodeURIComponent(preset)}`}`,
    wantsKey: isKeyNeeded || ownKey !== undefined,
    model: asked === '' ? routedName : asked,
    byRules: asked === '',
    models: listed.map(({ id }) => id),
    limits: new Map(
      [...listed, ...(usual ? [{ ...usual, id: `${routedName}-default` }] : [])].map((one) => [one.id, one]),
    ),
  };
  if (!guide) return null;
  const keyLine = ownKey === undefined ? undefined : assignments(shell, true, [[keyVariable, ownKey]]);
  const snippets = guide.snippets(connection, shell);
  const inShell = snippets.findIndex(({ label }) => label === shellLabel[shell]);
  return (
    <div className="stack">
      <div className="form-grid">
        <SelectField
          label="Tool"
          value={guide.name}
          options={clientGuides.map(({ name, title }) => ({ value: name, label: title }))}
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
          options={listed.map(({ id }) => ({ value: id }))}
          error={models.error}
        />
        <SelectField
          label="Shell"
          value={shell}
          options={shells.map((value) => ({ value, label: shellTitles[value] }))}
          onChange={(next) => {
            shellPlace.write(next);
            setShell(next);
          }}
        />
      </div>
      {models.data && listed.length === 0 && (
        <Notice kind="warn" title="No models available yet">
          <a href={href('/providers')}>Add a provider</a> first.
        </Notice>
      )}
      {keyLine !== undefined && inShell < 0 && <CodeBlock label={shellLabel[shell]} text={keyLine} />}
      {snippets.map(({ label, text }, at) => (
        <CodeBlock key={label} label={label} text={at === inShell && keyLine ? `${keyLine}\n${text}` : text} />
      ))}
      <p className="soft small">
        Base URL <code>{guide.appendsVersion ? connection.origin : baseOf(connection)}</code>,{' '}
        {protocolTitles[guide.protocol]}.{' '}
        {connection.wantsKey ? (
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
        <CodeBlock label="Bypass the proxy" text={withoutProxy(shell, new URL(connection.origin).hostname)} />
        <p className="soft">
          If localhost resolves to another program, use 127.0.0.1. Other machines and containers can reach the gateway
          only if HOST and APIKEY are set.
        </p>
      </Fold>
      {ownKey === undefined && <Check key={guide.name} guide={guide} connection={connection} />}
    </div>
  );
};
