import { BlockList, isIP } from 'node:net';
import type { Environment } from '../config/env.ts';
import { fail } from '../model/fault.ts';
import { hostOf, portOf } from './url.ts';

/**
 * The proxy that the environment sets for a URL: `HTTPS_PROXY` or `HTTP_PROXY` by the URL's scheme, else `ALL_PROXY`, unless
 * `NO_PROXY` covers the host. Lower-case names take precedence. Loopback hosts never use a proxy. Throws `misconfigured` for a proxy that isn't an
 * `http:` or `https:` URL or whose credentials can't be decoded; the message omits the URL, which may hold a password.
 */
export const proxyFor = (url: URL, environment: Environment): URL | undefined => {
  const read = (name: string) => environment[name.toLowerCase()] ?? environment[name];
  const byScheme = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  // An empty variable of the scheme means no proxy.
  const name = read(byScheme) === undefined ? 'ALL_PROXY' : byScheme;
  const value = read(name)?.trim();
  if (!value || isLoopback(url.hostname) || isExempt(url, read('NO_PROXY') ?? '')) return undefined;
  const proxy = parseProxy(value);
  if (proxy?.protocol !== 'http:' && proxy?.protocol !== 'https:') {
    return fail('misconfigured', `The environment variable ${name} is not the URL of an http or https proxy.`);
  }
  if (!isDecodable(proxy.username) || !isDecodable(proxy.password)) {
    return fail(
      'misconfigured',
      `The environment variable ${name} has a user name or password with an invalid % escape; write a literal % as %25.`,
    );
  }
  return proxy;
};

/** The `proxy-authorization` value for a proxy from `proxyFor`; `undefined` if it has no credentials. */
export const proxyCredentials = ({ username, password }: URL): string | undefined =>
  username === ''
    ? undefined
    : `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

const parseProxy = (value: string): URL | undefined => {
  const text = value.includes('://') ? value : `http://${value}`;
  return URL.canParse(text) ? new URL(text) : undefined;
};

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127\./.test(hostname);

/**
 * Entries are hosts, which cover subdomains, with an optional leading `.` or `*.` and port; networks of IP addresses
 * (`10.0.0.0/8`, `10.*`); or `*` for all hosts.
 */
const isExempt = (url: URL, list: string): boolean => {
  const host = hostOf(url);
  const family = isIP(host);
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => entry === '*' || (family > 0 && isInNetwork(host, family, entry)) || isNamed(url, host, entry));
};

const isNamed = (url: URL, hostname: string, entry: string): boolean => {
  const bare = entry.replace(/^\*?\./, '');
  // An IPv6 address without brackets has colons but no port.
  const [, host = bare, port] = /^(\[.+\]|[^:]+):(\d+)$/.exec(bare) ?? [];
  return isBelow(hostname, host) && (port === undefined || Number(port) === portOf(url));
};

/** Whether an entry is a network that holds the address. */
const isInNetwork = (address: string, family: number, entry: string): boolean => {
  const [, network, bits] = /^\[?([\d.]{7,15}|[\da-f:.]{2,45})\]?\/(\d{1,3})$/.exec(cidrOf(entry)) ?? [];
  const prefix = Number(bits);
  if (network === undefined || isIP(network) !== family || prefix > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const covered = new BlockList();
  covered.addSubnet(network, prefix, type);
  return covered.check(address, type);
};

/** `10.*` and `192.168.*.*` as `10.0.0.0/8` and `192.168.0.0/16`; other entries unchanged. */
const cidrOf = (entry: string): string => {
  const [, start] = /^((?:\d{1,3}\.){1,3})\*(?:\.\*){0,2}$/.exec(entry) ?? [];
  const numbers = start?.split('.').filter((number) => number !== '');
  return numbers ? `${[...numbers, 0, 0, 0].slice(0, 4).join('.')}/${8 * numbers.length}` : entry;
};

const isBelow = (hostname: string, host: string): boolean =>
  hostname === host.replace(/^\[|\]$/g, '') || hostname.endsWith(`.${host}`);
