import { useCallback, useState } from 'react';
import type { ProviderFile } from '../../api/config/config.ts';
import { readUpstreams } from '../../api/upstreams.ts';
import { readUsage } from '../../api/usage.ts';
import { useLoad } from '../../api/use-load.ts';
import { ConfigPage } from '../../config/config-page.tsx';
import { indexIn } from '../../config/fields/field-path.ts';
import { useForm } from '../../config/fields/form.ts';
import { useWanted } from '../../config/fields/wanted-field.ts';
import { removeProvider, usesOf } from '../../config/remove-provider.ts';
import { isDemo } from '../../config/spelling.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { SortableList } from '../../parts/controls/sortable-list.tsx';
import { Empty } from '../../parts/layout/notice.tsx';
import { changeQuery } from '../../router/route.ts';
import { useOpenRows, useRows } from '../../state/use-rows.ts';
import type { PageProps } from '../page.ts';
import { lastDay, rangeIn, ranges, requestsOf } from '../usage/usage-view.ts';
import { AddProvider } from './add-provider.tsx';
import { ProviderForm } from './provider-form.tsx';
import { ProviderHead } from './provider-head.tsx';
import { RemoveProviderDialog } from './remove-provider-dialog.tsx';
import './providers.css';

/** How often the providers' state and figures are read, in milliseconds. */
const stateEveryMs = 5_000;
const figuresEveryMs = 10_000;

/** The providers page. Its address may ask for the dialog that adds one: `#/providers?add=yes`. */
export const Providers = ({ query }: PageProps) => {
  const [adds, setAdds] = useState(query.get('add') === 'yes');
  const { name: from } = rangeIn(query, lastDay);
  const close = (): void => {
    setAdds(false);
    // A reload doesn't open it again.
    if (query.has('add')) changeQuery({ add: '' });
  };
  return (
    <ConfigPage
      title="Providers"
      about="Upstream services, with their keys and models."
      actions={
        <>
          <Segmented
            label="Time"
            value={from}
            onChange={(range) => changeQuery({ range })}
            options={ranges.map(({ name, title }) => ({ value: name, label: title }))}
          />
          <Button look="primary" icon="add" onClick={() => setAdds(true)}>
            Add a provider
          </Button>
        </>
      }
    >
      <ProviderList from={from} />
      {adds && <AddProvider onClose={close} />}
    </ConfigPage>
  );
};

const none: readonly ProviderFile[] = [];

const ProviderList = ({ from }: { readonly from: string }) => {
  const { config, change, transformers } = useForm();
  const formats = transformers.filter(({ kind }) => kind === 'format').map(({ name }) => name);
  const { data: upstreams = [], reload } = useLoad(readUpstreams, stateEveryMs);
  const usage = useLoad(
    useCallback((signal) => readUsage({ from, by: 'provider', step: 'none' }, signal), [from]),
    figuresEveryMs,
  );
  const list = config.Providers ?? none;
  const rows = useRows(list, (next) => change((before) => ({ ...before, Providers: next })));
  const { open, show } = useOpenRows();
  const [removed, setRemoved] = useState<number>();
  useWanted(['Providers'], (path) => show(rows.keys[indexIn(path)], true));
  return (
    <>
      {list.length === 0 && (
        <Empty title="No providers yet">
          A provider is an upstream service: a vendor’s API or your own server. Add one with its key.
        </Empty>
      )}
      <SortableList
        label="Providers"
        rows={list.map((provider, at) => {
          const key = rows.keys[at] ?? at;
          const upstream = upstreams.find((one) => one.provider === provider.name);
          const figures = usage.data && (usage.data.rows.find(({ name }) => name === provider.name) ?? 'none');
          return {
            key,
            name: provider.name || 'the new provider',
            path: `Providers[${at}]`,
            open: open.has(key),
            onToggle: () => show(key, !open.has(key)),
            head: <ProviderHead {...{ provider, at, formats, upstream, figures }} />,
            body: (
              <>
                {figures && figures !== 'none' && (
                  <a href={requestsOf({ from }, [['provider', figures.name]])}>Show its requests</a>
                )}
                <ProviderForm {...{ provider, at, formats, upstream }} onUpstreamChange={reload} />
              </>
            ),
          };
        })}
        onMove={rows.move}
        onRemove={(at) => {
          if (usesOf(config, list[at]?.name ?? '').length > 0) setRemoved(at);
          else rows.remove(at);
        }}
      />
      {list.length > 0 && list.every(isDemo) && (
        <p className="soft">The demo answers by itself, without a model. Add a provider to reach one.</p>
      )}
      {removed !== undefined && (
        <RemoveProviderDialog
          at={removed}
          onClose={() => setRemoved(undefined)}
          onRemove={(to) => {
            rows.remove(removed);
            change(() => removeProvider(config, removed, to));
            setRemoved(undefined);
          }}
        />
      )}
    </>
  );
};
