import type { Environment } from '../config/interpolate.ts';
import type { Located } from './locate.ts';
import type { Connection } from './neighbours/client.ts';

/** How a program reaches the service. Without a key the service asks for none, but programs want to have one. */
export const connectionTo = ({ baseUrl, apiKey }: Located): Connection => ({ baseUrl, apiKey: apiKey ?? 'switchyard' });

/** The proxy settings with which a program still reaches the service directly. */
export const withoutProxy = ({ baseUrl }: Connection, env: Environment): Readonly<Record<string, string>> => {
  const { hostname } = new URL(baseUrl);
  const hosts = ['127.0.0.1', 'localhost', hostname.replace(/^\[(.*)\]$/, '$1')];
  const given = (env.NO_PROXY ?? env.no_proxy ?? '').split(',').map((host) => host.trim());
  const all = [...new Set([...given, ...hosts])].filter((host) => host !== '').join(',');
  return { NO_PROXY: all, no_proxy: all };
};
