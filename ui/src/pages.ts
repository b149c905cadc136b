import type { ComponentType } from 'react';
import type { PageProps } from './pages/page.ts';
import type { IconName } from './parts/icon.tsx';

/** A page of the interface. */
export interface PageEntry {
  /** The first part of its address: `#/<name>`; the home page's is empty. */
  readonly name: string;
  readonly title: string;
  /** What leads there; a page without is reached from others. */
  readonly link?: {
    readonly group: 'Watch' | 'Set up' | 'Use';
    readonly icon: IconName;
    /** `g` and this key go there. */
    readonly key: string;
  };
  /** Fetched when somebody goes there. */
  readonly load: () => Promise<ComponentType<PageProps>>;
}

/** All pages, in the order of the navigation. A page is a folder below `pages/` that exports one component, and its row here. */
export const pages: readonly PageEntry[] = [
  {
    name: '',
    title: 'Yard',
    link: { group: 'Watch', icon: 'yard', key: 'y' },
    load: async () => (await import('./pages/yard/yard.tsx')).Yard,
  },
  {
    name: 'requests',
    title: 'Request',
    load: async () => (await import('./pages/request/request.tsx')).Request,
  },
  {
    name: 'logs',
    title: 'Logs',
    link: { group: 'Watch', icon: 'logs', key: 'l' },
    load: async () => (await import('./pages/logs/logs.tsx')).Logs,
  },
  {
    name: 'providers',
    title: 'Providers',
    link: { group: 'Set up', icon: 'providers', key: 'p' },
    load: async () => (await import('./pages/providers/providers.tsx')).Providers,
  },
  {
    name: 'routing',
    title: 'Routing',
    link: { group: 'Set up', icon: 'routing', key: 'r' },
    load: async () => (await import('./pages/routing/routing.tsx')).Routing,
  },
  {
    name: 'transformers',
    title: 'Transformers',
    link: { group: 'Set up', icon: 'transformers', key: 't' },
    load: async () => (await import('./pages/transformers/transformers.tsx')).Transformers,
  },
  {
    name: 'presets',
    title: 'Presets',
    link: { group: 'Set up', icon: 'presets', key: 'e' },
    load: async () => (await import('./pages/presets/presets.tsx')).Presets,
  },
  {
    name: 'settings',
    title: 'Settings',
    link: { group: 'Set up', icon: 'settings', key: 's' },
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
