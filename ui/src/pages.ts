import type { ComponentType } from 'react';
import type { PageProps } from './pages/page.ts';
import type { IconName } from './parts/controls/icon.tsx';

/** A page of the interface. */
export interface PageEntry {
  /** The first part of its address, `#/<name>`; or, with a slash, the first two: a part of another page. */
  readonly name: string;
  readonly title: string;
  /** Its title among the parts of its page. */
  readonly short?: string;
  /** Its link in the navigation; pages without one are reached from others. */
  readonly link?: {
    readonly icon: IconName;
    /** Pressing `g` and this key opens it. */
    readonly key: string;
  };
  /** Keeps its state at all addresses that begin with its name. */
  readonly isOne?: boolean;
  /** Loads its code on the first visit. */
  readonly load: () => Promise<ComponentType<PageProps>>;
}

/** All pages, in the order of the navigation. A page is a folder below `pages/` that exports one component, and its row here. */
export const pages: readonly PageEntry[] = [
  {
    name: 'requests',
    title: 'Requests',
    link: { icon: 'history', key: 'q' },
    load: async () => (await import('./pages/requests/requests.tsx')).Requests,
    isOne: true,
  },
  {
    name: 'usage',
    title: 'Usage',
    link: { icon: 'usage', key: 'u' },
    load: async () => (await import('./pages/usage/usage.tsx')).Usage,
  },
  {
    name: 'providers',
    title: 'Providers',
    link: { icon: 'providers', key: 'p' },
    load: async () => (await import('./pages/providers/providers.tsx')).Providers,
  },
  {
    name: 'routing',
    title: 'Routing',
    short: 'Rules',
    link: { icon: 'routing', key: 'r' },
    load: async () => (await import('./pages/routing/routing.tsx')).Routing,
  },
  {
    name: 'routing/transformers',
    title: 'Transformers',
    load: async () => (await import('./pages/transformers/transformers.tsx')).Transformers,
  },
  {
    name: 'routing/presets',
    title: 'Presets',
    load: async () => (await import('./pages/presets/presets.tsx')).Presets,
  },
  {
    name: 'clients',
    title: 'Clients',
    link: { icon: 'connect', key: 'c' },
    load: async () => (await import('./pages/connect/connect.tsx')).Connect,
  },
  {
    name: 'playground',
    title: 'Playground',
    link: { icon: 'playground', key: 'a' },
    load: async () => (await import('./pages/playground/playground.tsx')).Playground,
  },
  {
    name: 'settings',
    title: 'Settings',
    link: { icon: 'settings', key: 's' },
    load: async () => (await import('./pages/settings/settings.tsx')).Settings,
  },
  {
    name: 'settings/logs',
    title: 'Logs',
    load: async () => (await import('./pages/logs/logs.tsx')).Logs,
  },
  { name: 'styles', title: 'Styles', load: async () => (await import('./pages/styles/styles.tsx')).Styles },
];

/** The names of the navigation's entries in their groups. */
export const pageGroups: readonly (readonly string[])[] = [
  ['requests', 'usage'],
  ['providers', 'routing', 'clients'],
  ['playground', 'settings'],
];
