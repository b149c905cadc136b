import type { Environment } from '../config/env.ts';
import { fail } from '../model/fault.ts';
import { hostOf, portOf } from './url.ts';

/**
 * The proxy that the environment sets for a URL: `HTTPS_PROXY` or `HTTP_PROXY` by the URL's scheme, unless `NO_PROXY` names the
 * host. Lower-case names take precedence. Loopback hosts never use a proxy. Throws `misconfigured` for a proxy that isn't an
 * `http:` or `https:` URL or whose credentials can't be decoded; the message omits the URL, which may hold a password.
 */
export const proxyFor = (url: URL, environment: Environment): URL | undefined => {
  const read = (name: string) => environment[name.toLowerCase()] ?? environment[name];
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
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

/** Entries are hosts, which cover subdomains, with an optional leading `.` or `*.` and port. `*` covers all hosts. */
const isExempt = (url: URL, list: string): boolean =>
  list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const bare = entry.replace(/^\*?\./, '');
      // An IPv6 address without brackets has colons but no port.
      const [, host = bare, port] = /^(\[.+\]|[^:]+):(\d+)$/.exec(bare) ?? [];
      return entry === '*' || (isBelow(hostOf(url), host) && (port === undefined || Number(port) === portOf(url)));
    });

const isBelow = (hostname: string, host: string): boolean =>
  hostname === host.replace(/^\[|\]$/g, '') || hostname.endsWith(`.${host}`);
