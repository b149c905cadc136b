import { readFleet } from '../../api/service.ts';
import { useLoad } from '../../api/use-load.ts';
import { count } from '../../format/figures.ts';
import { Empty, Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';

/** How often members are read again, in milliseconds. */
const readMs = 5_000;

/** The machines that share a store; nothing without `FLEET`. */
export const Fleet = () => {
  const { data: fleet } = useLoad(readFleet, readMs);
  if (!fleet?.store) return null;
  const { store, drift, members } = fleet;
  return (
    <Panel flush title="Machines" about="They share breakers, limits and reasoning.">
      {!store.up && (
        <Notice kind="failed" title="The store doesn't answer">
          Requests are served; each process grants its share of the limits. {store.problem}
        </Notice>
      )}
      {members.some(({ isStranger }) => isStranger) && (
        <Notice kind="warn" title="Another fleet has this name">
          Its members have another key. Choose another FLEET.name, or give all the same key.
        </Notice>
      )}
      {drift && (
        <Notice kind="warn" title="Configurations differ">
          They have done so for more than a minute.
        </Notice>
      )}
      <DataTable
        label="Machines"
        rows={members}
        rowKey={({ machine, pid, address }) => `${machine} ${pid} ${address}`}
        empty={<Empty title="No members">The store hasn't named any yet.</Empty>}
        columns={[
          {
            name: 'machine',
            title: 'Machine',
            cell: ({ machine, isThis }) => `${machine}${isThis ? ' (this one)' : ''}`,
          },
          { name: 'pid', title: 'Process', numeric: true, cell: ({ pid }) => pid },
          { name: 'address', title: 'Address', cell: ({ address }) => <span className="mono">{address}</span> },
          { name: 'version', title: 'Version', cell: ({ version }) => version },
          { name: 'config', title: 'Configuration', cell: ({ config }) => <span className="mono">{config}</span> },
          { name: 'streams', title: 'Streams', numeric: true, cell: ({ streams }) => count(streams) },
        ]}
      />
    </Panel>
  );
};
