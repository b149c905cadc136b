import type { ComponentType } from 'react';
import type { PageProps } from './pages/page.ts';
import { Requests } from './pages/requests/requests.tsx';
import type { IconName } from './parts/controls/button.tsx';

/** A page of the interface. */
export interface PageEntry {
  /** The first part of its address, `#/<name>`; or, with a slash, the first two: a part of another page. */
  readonly name: string;
  readonly title: string;
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

/** All pages but the home page are in one file, which is loaded after the start: a file for each would be many for the first page. */
const later = () => import('./pages/later.ts');

/** All pages, in the order of the navigation. A page is a folder below `pages/` that exports one component, and its row here. */
export const pages: readonly PageEntry[] = [
  {
    name: 'requests',
    title: 'Requests',
    link: { icon: 'history', key: 'q' },
    load: async () => Requests,
    isOne: true,
  },
  {
    name: 'usage',
    title: 'Usage',
    link: { icon: 'usage', key: 'u' },
    load: async () => (await later()).Usage,
  },
  {
    name: 'providers',
    title: 'Providers',
    link: { icon: 'providers', key: 'p' },
    load: async () => (await later()).Providers,
  },
  {
    name: 'routing',
    title: 'Routing',
    link: { icon: 'routing', key: 'r' },
    load: async () => (await later()).Routing,
  },
  {
    name: 'clients',
    title: 'Clients',
    link: { icon: 'connect', key: 'c' },
    load: async () => (await later()).Clients,
  },
  {
    name: 'playground',
    title: 'Playground',
    link: { icon: 'playground', key: 'a' },
    load: async () => (await later()).Playground,
  },
  {
    name: 'settings',
    title: 'Settings',
    link: { icon: 'settings', key: 's' },
    load: async () => (await later()).Settings,
  },
  {
    name: 'settings/logs',
    title: 'Logs',
    load: async () => (await later()).Logs,
  },
  {
    name: 'guide',
    title: 'Getting started',
    load: async () => (await later()).GettingStarted,
  },
];

/** The names of the navigation's entries in their groups. */
export const pageGroups: readonly (readonly string[])[] = [
  ['requests', 'usage'],
  ['providers', 'routing', 'clients'],
  ['playground', 'settings'],
];
