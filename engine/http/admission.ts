import type { Fault } from '../model/fault.ts';
import {
  carriesKey,
  isFromOwnPage,
  type KeySettings,
  keyCheck,
  type OriginGuardSettings,
  originGuard,
  originIn,
  type TrustedProxies,
} from './access/access.ts';
import type { Endpoint, HeaderList } from './endpoint.ts';
import { isLoopbackHost, parseHostName } from './host-name.ts';
import type { HttpStream } from './stream.ts';

/** A listener's access rules. */
interface AdmissionSettings extends KeySettings {
  readonly guard: OriginGuardSettings;
  readonly proxies: TrustedProxies;
  /** Milliseconds since 1970, for keys that expire; absent: the system's. */
  readonly nowMs?: () => number;
}

/** A request as far as its admission depends on it. */
export type Caller = Pick<HttpStream, 'headers' | 'remoteAddress' | 'proxiedAddress'>;

/** Whom a path is for; `undefined`: there is no such path. */
type Access = Pick<Endpoint, 'open' | 'forClients' | 'anyHost'> | undefined;

/** Why a request without a valid key is refused. `not_direct`: it would need none if it were a direct call. */
export type KeyRefusal = 'missing_key' | 'wrong_key' | 'expired_key' | 'not_direct';

/** A request that may go on, with the client whose key it carries; or why it may not. */
type Decision =
  | { readonly namedClient: string | undefined }
  | { readonly fault: Fault; readonly keyRefusal?: KeyRefusal };

/** Decides about one request. Must be called while the server's handler runs. */
type Admit = (caller: Caller, access: Access) => Decision;

/** The origin of a page that may call the paths for clients, if the request comes from one and the path is one of them. */
type PageOf = (headers: HeaderList, access: Access) => string | undefined;

/** Access control. */
export interface AccessRules {
  readonly admit: Admit;
  readonly pageOf: PageOf;
  /** Whether a page may send the request that its preflight announces. */
  readonly admitsPreflight: (headers: HeaderList, access: Access) => boolean;
}

/**
 * Decides who may do what; nothing else does.
 *
 * - Each request must name a host of the service, and must not come from a foreign page (`originGuard`). Paths for clients may also be
 *   called by the pages of `allowedOrigins`, which may read the answers (`pageOf`).
 * - Open paths need no key.
 * - The administrator's key opens all other paths, a client's key those for clients, until it expires.
 * - Without any key configured, paths for clients are open to every caller that reaches the port.
 * - Without an administrator's key, its paths are open to programs of this machine that call directly (`detour`): a source address alone proves
 *   nothing, since a proxy on this machine has the same one.
 *
 * A path that doesn't exist is treated as the administrator's, so that it can't be told from one that does.
 */
export const admission = ({ guard, proxies, nowMs = Date.now, ...keys }: AdmissionSettings): AccessRules => {
  const foreign = originGuard(guard);
  const allowedOrigins = new Set(guard.allowedOrigins);
  const pageOf: PageOf = (headers, access) => {
    if (allowedOrigins.size === 0 || !access?.forClients) return undefined;
    const origin = originIn(headers);
    return origin !== undefined && allowedOrigins.has(origin) ? origin : undefined;
  };
  const keyOwner = keyCheck(keys);
  const hasClients = keys.clients !== undefined;
  const admit: Admit = (caller, access) => {
    const { headers } = caller;
    const refused = foreign(headers, access?.anyHost, pageOf(headers, access) !== undefined);
    if (refused) return { fault: refused };
    if (access?.open) return admitted;
    const owner = keyOwner(headers);
    if (!owner) {
      if (carriesKey(headers)) return { fault: wrongKey, keyRefusal: 'wrong_key' };
      // The web interface asks without a key first, to learn that it needs one: no tool was refused.
      return { fault: wrongKey, ...(access?.forClients && { keyRefusal: 'missing_key' }) };
    }
    switch (owner.type) {
      case 'administrator':
        return admitted;
      case 'client':
        if (owner.expiresAtMs !== undefined && nowMs() >= owner.expiresAtMs)
          return { fault: expiredKey(owner.name, owner.expiresAtMs), keyRefusal: 'expired_key' };
        if (access && !access.forClients) return { fault: forAdministrator(owner.name) };
        return { namedClient: owner.name };
      case 'keyless': {
        if (access?.forClients) return hasClients ? { fault: missingKey, keyRefusal: 'missing_key' } : admitted;
        // Nothing is hidden where the model routes are open.
        if (!access && !hasClients) return admitted;
        const reason = detour(caller, proxies);
        if (reason === undefined) return admitted;
        return { fault: needsAdministratorsKey(reason), keyRefusal: 'not_direct' };
      }
      default:
        return owner satisfies never;
    }
  };
  return {
    admit,
    pageOf,
    admitsPreflight: (headers, access) =>
      pageOf(headers, access) !== undefined && foreign(headers, false, true) === undefined,
  };
};

const admitted: Decision = { namedClient: undefined };

/** Why a request isn't one that a program of this machine sends directly, in words; `undefined`: it is. */
const detour = (caller: Caller, proxies: TrustedProxies): string | undefined => {
  const { headers, remoteAddress } = caller;
  if (!isLoopbackAddress(remoteAddress)) return 'comes from another machine';
  if (proxies.includes(remoteAddress)) return 'comes from a proxy that PROXIES lists';
  if (caller.proxiedAddress() !== '') return 'was forwarded with the PROXY protocol';
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (isForwardingHeader(name)) return `was forwarded: it has the header ${name}`;
  }
  return isFromOwnPage(headers) ? undefined : 'names a host, or comes from a page, that is not at a loopback address';
};

const isLoopbackAddress = (address: string): boolean => {
  const host = parseHostName(address.includes(':') ? `[${address}]` : address);
  return host !== undefined && isLoopbackHost(host);
};

/** Whether proxies, balancers and tunnels add a header of this lower-case name. */
const isForwardingHeader = (name: string): boolean =>
  forwardingNames.has(name) || forwardingParts.some((part) => name.includes(part));

/** Sources: RFC 9110, "Via"; RFC 8586, "CDN-Loop"; Traefik and HAProxy documentation. */
const forwardingNames: ReadonlySet<string> = new Set(['via', 'cdn-loop', 'cf-ray', 'x-scheme', 'x-host']);

/**
 * Parts of such names: `Forwarded`, `X-Forwarded-*`, `X-Original-Forwarded-For`; `X-Real-IP`; `X-Client-IP`, `Fastly-Client-IP`,
 * `X-Azure-ClientIP`; `CF-Connecting-IP`; `X-Remote-Addr`; `X-Originating-IP`; `X-Original-Host`; `X-Envoy-External-Address`;
 * `Proxy-Connection`, `X-ProxyUser-IP`; `X-Cluster-Client-IP`; `Tailscale-User-Login`. Sources: RFC 7239, and the documentation
 * of nginx, Envoy, Cloudflare, Fastly, Akamai, Azure Front Door, Tailscale.
 */
const forwardingParts = [
  'forward',
  'real-ip',
  'client-ip',
  'clientip',
  'connecting-ip',
  'remote-ip',
  'remote-addr',
  'originating-ip',
  'x-original-',
  'x-envoy-',
  'x-cluster-',
  'tailscale-',
  'proxy',
] as const;

const challenge = { 'www-authenticate': 'Bearer' };

const wrongKey: Fault = {
  kind: 'unauthorized',
  message: 'The API key is missing or wrong: send it as "Authorization: Bearer" or "x-api-key".',
  headers: challenge,
};

const expiredKey = (name: string, atMs: number): Fault => ({
  kind: 'unauthorized',
  message: `The API key of the client ${name} expired at ${new Date(atMs).toISOString()}: ask for a new one, or for a later \`expires\` in CLIENTS.`,
  code: 'key_expired',
  headers: challenge,
});

const missingKey: Fault = {
  kind: 'unauthorized',
  message:
    'The API key is missing: since CLIENTS is set, the model routes need the key of a client, as "Authorization: Bearer" or "x-api-key".',
  headers: challenge,
};

const needsAdministratorsKey = (reason: string): Fault => ({
  kind: 'unauthorized',
  message: `This path needs a key, and no APIKEY is set. Without one, it is open only to programs on the gateway's machine that call it directly at a loopback address; this request ${reason}. Set APIKEY in the configuration, and send it as "Authorization: Bearer" or "x-api-key".`,
  headers: challenge,
});

const forAdministrator = (name: string): Fault => ({
  kind: 'forbidden',
  message: `The key of the client ${name} opens the model routes only; this path needs the APIKEY.`,
  code: 'model_routes_only',
});
