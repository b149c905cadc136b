import type { PoolFile } from '../../api/config/config.ts';
import { useForm } from '../../config/fields/form.ts';
import { useWanted } from '../../config/fields/wanted-field.ts';
import { counted } from '../../format/count.ts';
import { Button } from '../../parts/controls/button.tsx';
import { SortableList } from '../../parts/controls/sortable-list.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { Badge } from '../../parts/text/badge.tsx';
import { useOpenRows, useRows } from '../../state/use-rows.ts';
import { PoolForm } from './pool-form.tsx';

const none: readonly PoolFile[] = [];

/** The pools: several destinations under one name. */
export const PoolsPanel = () => {
  const { config, change } = useForm();
  const list = config.Pools ?? none;
  const rows = useRows(list, (next) => change((before) => ({ ...before, Pools: next })));
  const { open, show } = useOpenRows();
  return (
    <Panel
      title="Pools"
      about="Several destinations under one name. A pool chooses one of its members for each request; if that fails, it asks another."
    >
      {list.map((_, at) => (
        <WantedPool key={rows.keys[at]} path={`Pools[${at}]`} show={() => show(rows.keys[at], true)} />
      ))}
      {list.length > 0 && (
        <SortableList
          label="Pools"
          rows={list.map((pool, at) => {
            const key = rows.keys[at] ?? at;
            const { name = '', strategy = 'weighted', members = [] } = pool;
            return {
              key,
              name: name || 'the new pool',
              path: `Pools[${at}]`,
              open: open.has(key),
              onToggle: () => show(key, !open.has(key)),
              head: (
                <>
                  {name || 'New pool'} <Badge>{strategy}</Badge>{' '}
                  <span className="soft small">{counted(members.length, 'member')}</span>
                </>
              ),
              body: <PoolForm pool={pool} at={at} onChange={(next) => rows.set(at, next)} />,
            };
          })}
          onMove={rows.move}
          onRemove={rows.remove}
        />
      )}
      <div className="row">
        <Button icon="add" data-path="Pools" onClick={() => show(rows.add({ name: '', members: [{ to: '' }] }), true)}>
          Add a pool
        </Button>
      </div>
    </Panel>
  );
};

/** Opens the pool of the field to focus. */
const WantedPool = ({ path, show }: { readonly path: string; readonly show: () => void }) => {
  useWanted(path, show);
  return null;
};
