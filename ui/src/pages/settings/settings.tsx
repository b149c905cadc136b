import { ConfigPage } from '../../config/config-page.tsx';
import { useWanted } from '../../config/fields/wanted-field.ts';
import { Tabs } from '../../parts/controls/tabs.tsx';
import { changeQuery } from '../../router/route.ts';
import type { PageProps } from '../page.ts';
import { Backups } from './backups.tsx';
import { KeptHistory } from './kept-history.tsx';
import { RestartDue } from './restart-due.tsx';
import { ServerForm, serverFields } from './server-form.tsx';
import { Service } from './service.tsx';
import { WholeFile, wholeFilePath } from './whole-file.tsx';
import './settings.css';

const tabs = [
  { name: 'server', title: 'Server' },
  { name: 'file', title: 'Whole file' },
  { name: 'backups', title: 'Backups' },
  { name: 'history', title: 'History' },
  { name: 'service', title: 'Service' },
] as const;

type TabName = (typeof tabs)[number]['name'];

/** The settings page. */
export const Settings = ({ query }: PageProps) => {
  const shown = tabs.find(({ name }) => name === query.get('tab'))?.name ?? 'server';
  const show = (name: TabName): void => changeQuery({ tab: name === 'server' ? '' : name });
  return (
    <ConfigPage
      title="Settings"
      about="Address and limits, clients, the configuration file, backups, the history on disk and processes."
    >
      {shown !== 'service' && <RestartDue onGo={() => show('service')} />}
      {serverFields.map((field) => (
        <Wanted key={field} path={field} show={() => show('server')} />
      ))}
      <Wanted path={wholeFilePath} show={() => show('file')} />
      <Tabs label="Settings" tabs={tabs} shown={shown} onShow={show}>
        {shown === 'server' && <ServerForm />}
        {shown === 'file' && <WholeFile />}
        {shown === 'backups' && <Backups />}
        {shown === 'history' && <KeptHistory />}
        {shown === 'service' && <Service />}
      </Tabs>
    </ConfigPage>
  );
};

/** Shows the tab of the field to focus. */
const Wanted = ({ path, show }: { readonly path: string; readonly show: () => void }) => {
  useWanted(path, show);
  return null;
};
