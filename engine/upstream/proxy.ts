import { fail } from '../model/fault.ts';
import { hostOf, portOf } from './address.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment sets for a URL: `HTTPS_PROXY` or `HTTP_PROXY` by the URL's scheme, unless `NO_PROXY` names
 * the host; lower-case spellings win. Loopback hosts are always reached directly. Throws a `misconfigured` fault for a
 * proxy that is no `http:` or `https:` URL; its text may hold a password and isn't repeated.
 */
export const proxyFor = (url: URL, environment: Environment): URL | undefined => {
  const read = (name: string) => environment[name.toLowerCase()] ?? environment[name];
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = read(name)?.trim();
  if (!value || isLoopback(url.hostname) || isExempt(url, read('NO_PROXY') ?? '')) return undefined;
  const proxy = parseProxy(value);
  if (proxy?.protocol !== 'http:' && proxy?.protocol !== 'https:') {
    return fail('misconfigured', `The environment variable ${name} names no http or https proxy.`);
  }
  return proxy;
};

/** The value of `proxy-authorization` for the user and password in a proxy's URL; `undefined` when it has none. */
export const proxyCredentials = ({ username, password }: URL): string | undefined =>
  username === ''
    ? undefined
    : `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;

const parseProxy = (value: string): URL | undefined => {
  const text = value.includes('://') ? value : `http://${value}`;
  return URL.canParse(text) ? new URL(text) : undefined;
};

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127\./.test(hostname);

/** Entries are hosts that also stand for those below them, with or without a leading `.` or `*.`, or a port; `*` is all. */
const isExempt = (url: URL, list: string): boolean =>
  list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const bare = entry.replace(/^\*?\./, '');
      // Unbracketed, an IPv6 address has colons of its own.
      const [, host = bare, port] = /^(\[.+\]|[^:]+):(\d+)$/.exec(bare) ?? [];
      return entry === '*' || (isBelow(hostOf(url), host) && (port === undefined || Number(port) === portOf(url)));
    });

const isBelow = (hostname: string, host: string): boolean =>
  hostname === host.replace(/^\[|\]$/g, '') || hostname.endsWith(`.${host}`);
