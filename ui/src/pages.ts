import type { ComponentType } from 'react';
import type { PageProps } from './pages/page.ts';
import type { IconName } from './parts/controls/icon.tsx';

/** A page of the interface. */
export interface PageEntry {
  /** The first part of its address: `#/<name>`; the home page's is empty. */
  readonly name: string;
  readonly title: string;
  /** Its link in the navigation; pages without one are reached from others. */
  readonly link?: {
    readonly group: 'Monitor' | 'Configure' | 'Use';
    readonly icon: IconName;
    /** Pressing `g` and this key opens it. */
    readonly key: string;
  };
  /** Loads its code on the first visit. */
  readonly load: () => Promise<ComponentType<PageProps>>;
}

/** All pages, in the order of the navigation. A page is a folder below `pages/` that exports one component, and its row here. */
export const pages: readonly PageEntry[] = [
  {
    name: '',
    title: 'Overview',
    link: { group: 'Monitor', icon: 'overview', key: 'o' },
    load: async () => (await import('./pages/overview/overview.tsx')).Overview,
  },
  {
    name: 'requests',
    title: 'Request',
    load: async () => (await import('./pages/request/request.tsx')).Request,
  },
  {
    name: 'history',
    title: 'History',
    link: { group: 'Monitor', icon: 'history', key: 'h' },
    load: async () => (await import('./pages/history/history.tsx')).History,
  },
  {
    name: 'sessions',
    title: 'Sessions',
    link: { group: 'Monitor', icon: 'sessions', key: 'n' },
    load: async () => (await import('./pages/sessions/sessions.tsx')).Sessions,
  },
  {
    name: 'usage',
    title: 'Usage',
    link: { group: 'Monitor', icon: 'usage', key: 'u' },
    load: async () => (await import('./pages/usage/usage.tsx')).Usage,
  },
  {
    name: 'logs',
    title: 'Logs',
    link: { group: 'Monitor', icon: 'logs', key: 'l' },
    load: async () => (await import('./pages/logs/logs.tsx')).Logs,
  },
  {
    name: 'providers',
    title: 'Providers',
    link: { group: 'Configure', icon: 'providers', key: 'p' },
    load: async () => (await import('./pages/providers/providers.tsx')).Providers,
  },
  {
    name: 'routing',
    title: 'Routing',
    link: { group: 'Configure', icon: 'routing', key: 'r' },
    load: async () => (await import('./pages/routing/routing.tsx')).Routing,
  },
  {
    name: 'transformers',
    title: 'Transformers',
    link: { group: 'Configure', icon: 'transformers', key: 't' },
    load: async () => (await import('./pages/transformers/transformers.tsx')).Transformers,
  },
  {
    name: 'presets',
    title: 'Presets',
    link: { group: 'Configure', icon: 'presets', key: 'e' },
    load: async () => (await import('./pages/presets/presets.tsx')).Presets,
  },
  {
    name: 'settings',
    title: 'Settings',
    link: { group: 'Configure', icon: 'settings', key: 's' },
    load: async () => (await import('./pages/settings/settings.tsx')).Settings,
  },
  {
    name: 'connect',
    title: 'Connect',
    link: { group: 'Use', icon: 'connect', key: 'c' },
    load: async () => (await import('./pages/connect/connect.tsx')).Connect,
  },
  {
    name: 'playground',
    title: 'Playground',
    link: { group: 'Use', icon: 'playground', key: 'a' },
    load: async () => (await import('./pages/playground/playground.tsx')).Playground,
  },
];
