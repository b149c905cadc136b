import type { Fault } from '../model/fault.ts';
import { type HostName, isLoopback, parseHostName } from './host-name.ts';
import type { HeaderPairs } from './incoming.ts';

/** Who may reach the service, by name. */
export interface GuardSettings {
  /** The listen address. A wildcard admits every address literal: rebinding a name needs a name. */
  readonly host: string;
  /** Further hosts, with a port (then only that one) or without. */
  readonly allowedHosts: readonly string[];
}

/** Says why a request may not reach the service; `undefined` when it may. */
export type Guard = (headers: HeaderPairs) => Fault | undefined;

/**
 * Keeps web pages away from a service on an open port: a name that was rebound to this machine shows in `Host`, a request from
 * a foreign page in `Origin` or `Sec-Fetch-Site`. Source: Fetch standard, "Origin header"; Fetch Metadata, "Sec-Fetch-Site".
 */
export const guard = ({ host, allowedHosts }: GuardSettings): Guard => {
  const wildcard = host === '0.0.0.0' || host === '::' || host === '[::]';
  const named = [host.includes(':') && !host.startsWith('[') ? `[${host}]` : host, ...allowedHosts]
    .map(parseHostName)
    .filter((name) => name !== undefined);
  const isListed = (asked: HostName): boolean =>
    named.some(({ name, port }) => name === asked.name && (port === '' || port === asked.port));
  const isOurs = (asked: HostName): boolean => isLoopback(asked) || (wildcard && asked.isAddress) || isListed(asked);

  /** Clients say the same few hosts, over and over. */
  const known = new Map<string, HostName | undefined>();
  const ourHost = (host: string): HostName | undefined => {
    if (known.has(host)) return known.get(host);
    const asked = parseHostName(host);
    const own = asked && isOurs(asked) ? asked : undefined;
    if (known.size >= mostKnown) known.clear();
    known.set(host, own);
    return own;
  };

  return (headers) => {
    const hosts = valuesOf(headers, 'host');
    const own = hosts.length === 1 ? ourHost(hosts[0] ?? '') : undefined;
    if (!own) return refused('Host', 'names a host that this service does not answer for');
    const site = valuesOf(headers, 'sec-fetch-site');
    if (site.some((value) => !fromNearby.has(value))) return refused('Sec-Fetch-Site', 'says that another site asks');
    const origins = valuesOf(headers, 'origin');
    if (origins.length === 0) return undefined;
    const origin = origins.length === 1 ? parseOrigin(origins[0] ?? '') : undefined;
    const welcome = origin && (isSame(origin, own) || isListed(origin));
    return welcome ? undefined : refused('Origin', 'is another than this service');
  };
};

/** `same-site` is another port or a sibling domain: the origin decides. */
const fromNearby: ReadonlySet<string> = new Set(['none', 'same-origin', 'same-site']);

const refused = (header: string, what: string): Fault => ({
  kind: 'forbidden',
  message: `The request's ${header} header ${what}. ALLOWED_HOSTS in the configuration lists further hosts.`,
});

const mostKnown = 100;

const valuesOf = (headers: HeaderPairs, name: string): readonly string[] => {
  let values: string[] | undefined;
  for (const [given, value] of headers) {
    if (given !== name) continue;
    if (values) values.push(value);
    else values = [value];
  }
  return values ?? noValues;
};

const noValues: readonly string[] = [];

interface Origin extends HostName {
  readonly defaultPort: string;
}

const parseOrigin = (text: string): Origin | undefined => {
  const parts = /^(https?):\/\/([^/]+)$/i.exec(text);
  const host = parts && parseHostName(parts[2] ?? '');
  return host ? { ...host, defaultPort: parts[1]?.toLowerCase() === 'https' ? '443' : '80' } : undefined;
};

/** All loopback names are one host: a page opened as `localhost` may ask `127.0.0.1` at the same port. */
const isSame = (origin: Origin, own: HostName): boolean =>
  (origin.port || origin.defaultPort) === (own.port || origin.defaultPort) &&
  (origin.name === own.name || (isLoopback(origin) && isLoopback(own)));
