import { ConfigPage } from '../../config/config-page.tsx';
import { useWanted } from '../../config/fields/wanted-field.ts';
import type { PageProps } from '../page.ts';
import { Backups } from './backups.tsx';
import { KeptHistory } from './kept-history.tsx';
import { RestartDue } from './restart-due.tsx';
import { Service } from './service.tsx';
import { SettingGroups } from './setting-groups.tsx';
import { SettingsTabs, settingsTab, showSettings } from './settings-tabs.tsx';
import { WholeFile, wholeFilePath } from './whole-file.tsx';
import './settings.css';

/** The settings page. */
export const Settings = ({ query }: PageProps) => {
  const shown = settingsTab(query);
  return (
    <ConfigPage title="Settings" about="The gateway itself, its file, backups, history and processes.">
      {shown !== 'service' && <RestartDue onGo={() => showSettings('service')} />}
      <Wanted />
      <SettingsTabs shown={shown}>
        {shown === 'server' && <SettingGroups />}
        {shown === 'file' && <WholeFile />}
        {shown === 'backups' && <Backups />}
        {shown === 'history' && <KeptHistory />}
        {shown === 'service' && <Service />}
      </SettingsTabs>
    </ConfigPage>
  );
};

/** Shows the tab of the field to focus. Part of the page of its configuration. */
const Wanted = () => {
  useWanted('/settings', (field) => showSettings(field === wholeFilePath ? 'file' : 'server'));
  return null;
};
