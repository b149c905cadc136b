import type { ReactNode } from 'react';
import { Tabs } from '../../parts/controls/tabs.tsx';
import { href, navigate } from '../../router/route.ts';

const tabs = [
  { name: 'server', title: 'Settings' },
  { name: 'file', title: 'File' },
  { name: 'backups', title: 'Backups' },
  { name: 'history', title: 'History' },
  { name: 'service', title: 'Service' },
  { name: 'logs', title: 'Logs' },
] as const;

/** The name of a tab of Settings. */
type SettingsTab = (typeof tabs)[number]['name'];

/** The tab that a query asks for. */
export const settingsTab = (query: URLSearchParams): SettingsTab =>
  tabs.find(({ name }) => name === query.get('tab'))?.name ?? 'server';

/** Opens a tab. The logs are a page of their own, whose address has its filters. */
export const showSettings = (name: SettingsTab): void => {
  if (name === 'logs') navigate(href('/settings/logs'));
  else navigate(name === 'server' ? href('/settings') : `${href('/settings')}?tab=${name}`);
};

/** The tabs of Settings and of the logs. */
export const SettingsTabs = ({ shown, children }: { readonly shown: SettingsTab; readonly children: ReactNode }) => (
  <Tabs label="Settings" tabs={tabs} shown={shown} onShow={showSettings}>
    {children}
  </Tabs>
);
