import { useState } from 'react';
import { listClients } from '../../api/clients.ts';
import { useLoad } from '../../api/use-load.ts';
import { ConfigPage } from '../../config/config-page.tsx';
import { Button } from '../../parts/controls/button.tsx';
import { LoadedView, Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { changeQuery, href } from '../../router/route.ts';
import type { PageProps } from '../page.ts';
import { AddClient } from './add-client.tsx';
import { ClientList } from './client-list.tsx';
import { ToolSetup } from './tool-setup.tsx';
import './clients.css';

/** How often use is read again, in milliseconds. */
const readMs = 5_000;

/** Clients with keys of their own, and how each tool is pointed at the gateway. Adding and revoking apply at once. */
export const Clients = ({ query }: PageProps) => {
  const clients = useLoad(listClients, readMs);
  const [adding, setAdding] = useState(false);
  const preset = query.get('preset') ?? '';
  return (
    <ConfigPage
      title="Clients"
      about="Who may use this gateway, and how tools are pointed at it."
      actions={
        <Button look="primary" icon="add" onClick={() => setAdding(true)}>
          Add a client
        </Button>
      }
    >
      <LoadedView what="the clients" of={clients}>
        {(data) => <ClientList data={data} reload={clients.reload} />}
      </LoadedView>
      <Panel title="Set up a tool" about="Copy, paste, check." className="narrow">
        {preset !== '' && (
          <Notice
            title={`For the preset ${preset}`}
            actions={<Button onClick={() => changeQuery({ preset: '' })}>Without a preset</Button>}
          >
            Tools that are set up like this use the routes of{' '}
            <a href={`${href('/routing')}?${new URLSearchParams({ preset })}`}>this preset</a>.
          </Notice>
        )}
        <ToolSetup preset={preset} isKeyNeeded={clients.data?.isKeyNeeded} />
      </Panel>
      {adding && (
        <AddClient
          endsKeylessUse={clients.data?.isKeyNeeded === false}
          onAdded={clients.reload}
          onClose={() => setAdding(false)}
        />
      )}
    </ConfigPage>
  );
};
