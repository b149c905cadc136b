export { Clients } from './clients/clients.tsx';
export { GettingStarted } from './guide/getting-started.tsx';
export { Logs } from './logs/logs.tsx';
export { Playground } from './playground/playground.tsx';
export { Providers } from './providers/providers.tsx';
export { Routing } from './routing/routing.tsx';
export { Settings } from './settings/settings.tsx';
export { Usage } from './usage/usage.tsx';
