import { useCallback, useState } from 'react';
import { useConfig } from '../../api/config/config-store.ts';
import { listModels } from '../../api/service.ts';
import { useLoad } from '../../api/use-load.ts';
import { hasDefault, routedName } from '../../config/rules.ts';
import { Button } from '../../parts/controls/button.tsx';
import { ComboField } from '../../parts/controls/combo-field.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { changeQuery, href } from '../../router/route.ts';
import { kept } from '../../state/kept.ts';
import type { PageProps } from '../page.ts';
import type { Connection } from './clients/client-guide.ts';
import { clientGuides } from './clients/index.ts';
import { keyVariable, type Shell, shells, shellTitles } from './clients/shell.ts';
import './connect.css';
import { GuideView } from './guide-view.tsx';
import { WayByRules } from './way-by-rules.tsx';

const clientPlace = kept('local', 'connect.client');
const shellPlace = kept('local', 'connect.shell');

/** Explains how to connect each client, and checks the connection. */
export const Connect = ({ query }: PageProps) => {
  const preset = query.get('preset') ?? '';
  const below = preset === '' ? '' : `/preset/${encodeURIComponent(preset)}`;
  const { config } = useConfig();
  const models = useLoad(useCallback((signal: AbortSignal) => listModels(signal), []));
  const [client, setClient] = useState(() => clientPlace.read());
  const [shell, setShell] = useState<Shell>(() => shells.find((one) => one === shellPlace.read()) ?? 'bash');
  const [picked, setModel] = useState<string>();
  const [way, setWay] = useState<'rules' | 'one'>();
  // Without a default route, the rules leave most requests without a model.
  const byRules = (way ?? (config && !hasDefault(config) ? 'one' : 'rules')) === 'rules';
  const guide = clientGuides.find(({ name }) => name === client) ?? clientGuides[0];
  const listed = models.data ?? [];
  const connection: Connection = {
    origin: `${window.location.origin}${below}`,
    wantsKey: (config?.APIKEY ?? '') !== '' || config?.CLIENTS !== undefined,
    model: byRules ? routedName : (picked ?? listed[0]?.id ?? ''),
    byRules,
    models: listed.map(({ id }) => id),
    limits: new Map(
      listed.map(({ id, context_length: context, max_completion_tokens: maxOutput }) => [id, { context, maxOutput }]),
    ),
  };
  return (
    <>
      <PageBar title="Connect" about="Point your tools at this gateway: copy, paste, check." />
      <div className="connect-choices">
        <div className="field">
          <span className="field-label" aria-hidden="true">
            Model
          </span>
          <Segmented
            label="Model"
            value={byRules ? 'rules' : 'one'}
            onChange={setWay}
            options={[
              { value: 'rules', label: 'Chosen by the rules' },
              { value: 'one', label: 'Always one model' },
            ]}
          />
        </div>
        <div className="field">
          <span className="field-label" aria-hidden="true">
            Shell
          </span>
          <Segmented
            label="Shell"
            value={shell}
            onChange={(next) => {
              shellPlace.write(next);
              setShell(next);
            }}
            options={shells.map((value) => ({ value, label: shellTitles[value] }))}
          />
        </div>
        {!byRules && (
          <ComboField
            label="Model in the examples"
            value={connection.model}
            onChange={setModel}
            options={listed.map(({ id, owned_by: owner }) => ({
              value: id,
              ...(owner !== undefined && { note: owner }),
            }))}
            error={models.error}
          />
        )}
      </div>
      {preset !== '' && (
        <Notice
          title={`For the preset ${preset}`}
          actions={<Button onClick={() => changeQuery({ preset: '' })}>Without a preset</Button>}
        >
          Clients that are set up like this use the routes of <a href={href('/routing/presets', preset)}>this preset</a>
          .
        </Notice>
      )}
      {config && byRules && preset === '' && <WayByRules config={config} />}
      {models.data?.length === 0 && (
        <Notice kind="warn" title="No models available yet">
          <a href={href('/providers')}>Add a provider</a> first.
        </Notice>
      )}
      {config && (
        <Notice>
          {connection.wantsKey ? (
            <>
              The gateway requires a key. The examples read it from <code>${keyVariable}</code>: set it once in your
              shell profile.
            </>
          ) : (
            'The gateway does not require a key. For clients that need one, any value works.'
          )}
        </Notice>
      )}
      <div className="connect">
        <nav className="clients" aria-label="Clients">
          {clientGuides.map(({ name, title }) => (
            <button
              key={name}
              type="button"
              className="client"
              aria-pressed={name === guide?.name}
              onClick={() => {
                clientPlace.write(name);
                setClient(name);
              }}
            >
              {title}
            </button>
          ))}
        </nav>
        {guide && <GuideView key={guide.name} guide={guide} connection={connection} shell={shell} />}
      </div>
    </>
  );
};
