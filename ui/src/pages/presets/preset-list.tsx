import { useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { listPresets, type Preset, removePreset } from '../../api/config/presets.ts';
import { useLoad } from '../../api/use-load.ts';
import { sentence } from '../../config/findings.ts';
import { Button, IconButton } from '../../parts/controls/button.tsx';
import { CopyButton } from '../../parts/controls/copy-button.tsx';
import { Empty } from '../../parts/layout/empty.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { Loading } from '../../parts/layout/loading.tsx';
import { PageBar } from '../../parts/layout/page-bar.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Badge, Lamp } from '../../parts/text/badge.tsx';
import { href } from '../../router/route.ts';
import { confirm } from '../../shell/dialogs/confirm.ts';
import { toast } from '../../shell/toast.ts';
import { NewPreset } from './new-preset.tsx';
import { presetUrl } from './preset-url.ts';

/** The list of presets. */
export const PresetList = () => {
  const { data, error, reload } = useLoad(listPresets);
  const [makes, setMakes] = useState(false);
  const remove = async ({ name }: Preset): Promise<void> => {
    const yes = await confirm({
      title: `Delete the preset ${name}?`,
      text: `Its manifest is deleted from disk. Requests to /preset/${name} will fail with 404.`,
      yes: 'Delete',
      danger: true,
    });
    if (!yes) return;
    try {
      toast((await removePreset(name)).message);
    } catch (caught) {
      toast(wordError(caught), 'failed');
    }
    reload();
  };
  const add = (
    <Button look="primary" icon="add" onClick={() => setMakes(true)}>
      New preset
    </Button>
  );
  return (
    <>
      <PageBar
        title="Presets"
        about="Alternative configurations under their own base URLs. Anything a preset omits comes from the main configuration."
        actions={data && data.length > 0 && add}
      />
      {error !== undefined && <LoadFailed what="the presets" error={error} onRetry={reload} />}
      {!data && error === undefined && <Loading what="presets" />}
      {data && (
        <Panel flush title="All presets">
          <DataTable
            label="Presets"
            rows={data}
            rowKey={({ name }) => name}
            open={({ name }) => href('/routing/presets', name)}
            empty={
              <Empty title="No presets yet" actions={add}>
                A preset serves other models under another base URL: for a team, an experiment or a cheaper default.
              </Empty>
            }
            columns={[
              { name: 'name', title: 'Name', cell: ({ name }) => <strong className="data-whole">{name}</strong> },
              {
                name: 'url',
                title: 'Base URL',
                cell: ({ name }) => <span className="mono preset-url">{presetUrl(name)}</span>,
              },
              { name: 'state', title: 'State', cell: (preset) => <State preset={preset} /> },
              {
                name: 'actions',
                title: 'Actions',
                cell: (preset) => (
                  <span className="row preset-actions">
                    <CopyButton text={presetUrl(preset.name)} label="Copy URL" />
                    <IconButton icon="remove" label={`Delete ${preset.name}`} onClick={() => void remove(preset)} />
                  </span>
                ),
              },
            ]}
          />
        </Panel>
      )}
      {makes && <NewPreset taken={data?.map(({ name }) => name) ?? []} onClose={() => setMakes(false)} />}
    </>
  );
};

const State = ({ preset: { faults = [] } }: { readonly preset: Preset }) => {
  const [first] = faults;
  if (!first) return <Lamp tone="ok">valid</Lamp>;
  return (
    <span>
      <Badge tone="bad">invalid</Badge>{' '}
      <span className="soft">{sentence(`${first.path} ${first.message}`.trim())}</span>
    </span>
  );
};
