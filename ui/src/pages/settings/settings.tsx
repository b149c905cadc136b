import { ConfigPage } from '../../config/config-page.tsx';
import { useWanted } from '../../config/fields/wanted-field.ts';
import { Tabs } from '../../parts/controls/tabs.tsx';
import { changeQuery } from '../../router/route.ts';
import type { PageProps } from '../page.ts';
import { Backups } from './backups.tsx';
import { KeptHistory } from './kept-history.tsx';
import { RestartDue } from './restart-due.tsx';
import { Service } from './service.tsx';
import { SettingGroups, settingFields } from './setting-groups.tsx';
import { WholeFile, wholeFilePath } from './whole-file.tsx';
import './settings.css';

const tabs = [
  { name: 'server', title: 'Settings' },
  { name: 'file', title: 'File' },
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
    <ConfigPage title="Settings" about="The gateway itself, its file, backups, history and processes.">
      {shown !== 'service' && <RestartDue onGo={() => show('service')} />}
      {settingFields.map((field) => (
        <Wanted key={field} path={field} show={() => show('server')} />
      ))}
      <Wanted path={wholeFilePath} show={() => show('file')} />
      <Tabs label="Settings" tabs={tabs} shown={shown} onShow={show}>
        {shown === 'server' && <SettingGroups />}
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
