import type { Route } from './route.ts';

/** New addresses of moved pages, by the beginning of their old paths; the rest of a path and the query stay. */
const moved: Readonly<Record<string, string>> = {
  '': '/requests',
  overview: '/requests',
  history: '/requests',
  connect: '/clients',
  logs: '/settings/logs',
};

/** Today's address of an old one; `undefined` if the route's is no old one. */
export const movedAddress = ({ segments: [first = '', ...rest], query }: Route): string | undefined => {
  const next = new URLSearchParams(query);
  let path = moved[first];
  if (first === 'sessions') {
    path = '/requests';
    next.set('group', 'session');
    const [id] = rest.splice(0);
    if (id !== undefined) next.set('session', id);
  } else if (first === 'settings' && query.get('tab') === 'clients') {
    path = '/clients';
    next.delete('tab');
  } else if (first === 'transformers') {
    path = '/routing';
    next.set('at', 'stages');
  } else if (first === 'presets') {
    path = '/routing';
    const [preset] = rest.splice(0);
    if (preset !== undefined) next.set('preset', preset);
  } else if (first === 'backups') {
    path = '/settings';
    next.set('tab', 'backups');
  }
  if (path === undefined) return undefined;
  return `#${[path, ...rest.map(encodeURIComponent)].join('/')}${next.size > 0 ? `?${next}` : ''}`;
};
