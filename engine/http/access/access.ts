import { hash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { Fault } from '../../model/fault.ts';
import { BoundedMap } from '../../runtime/memoize.ts';
import type { HeaderList } from '../endpoint.ts';
import { headerValue } from '../headers.ts';
import { type HostName, isLoopbackHost, parseHostName, shortAddress } from '../host-name.ts';
import type { HttpStream } from '../stream.ts';

/** The keys that requests may carry. */
export interface KeySettings {
  /** The administrator's key; absent or empty: none. */
  readonly apiKey?: string | undefined;
  /** Clients with keys of their own, whose digests are SHA-256 in lower-case hexadecimal; absent: there are no such keys. */
  readonly clients?: readonly KeyedClient[] | undefined;
}

/** A client, the digest of its key, and when that ends, in milliseconds since 1970; absent: never. */
interface KeyedClient {
  readonly name: string;
  readonly keyHash: string;
  readonly expiresAtMs?: number;
}

/** The owner of the request's key. `keyless`: there is no administrator's key, and it carries none, or there are no keys at all. */
type KeyOwner =
  | { readonly type: 'administrator' | 'keyless' }
  | ({ readonly type: 'client' } & Pick<KeyedClient, 'name' | 'expiresAtMs'>);

/** The owner of a request's key; `undefined` if the key is missing or wrong. */
type KeyCheck = (headers: HeaderList) => KeyOwner | undefined;

/** The header for a key of the gateway where a client sends its own credentials for a provider in the usual ones. */
export const gatewayKeyHeader = 'x-junctor-api-key';

/**
 * Checks `Authorization: Bearer` and `x-api-key`; one match suffices, since some clients send both with only one correct. If
 * there is `x-junctor-api-key`, it alone counts.
 * Compares keys in constant time, so that timing reveals neither a key nor its length: the administrator's as texts in blocks of one
 * length, the clients' by their digests. A digest finds its client in a table, whose timing reveals nothing that leads to a key. Without any keys, all requests are keyless, whatever they carry: many tools
 * always send some key.
 */
export const keyCheck = ({ apiKey, clients }: KeySettings): KeyCheck => {
  if (!apiKey && !clients) return () => keyless;
  const isAdministrators = apiKey ? sameKey(apiKey) : () => false;
  const byDigest = new Map(
    clients?.map(({ name, keyHash, expiresAtMs }) => [
      keyHash,
      {
        digest: Buffer.from(keyHash, 'hex'),
        owner: { type: 'client', name, ...(expiresAtMs !== undefined && { expiresAtMs }) } as const,
      },
    ]),
  );
  const ownerOf = (given: string | undefined): KeyOwner | undefined => {
    if (given === undefined) return undefined;
    if (isAdministrators(given)) return administrator;
    if (byDigest.size === 0) return undefined;
    const hashed = digest(given);
    const client = byDigest.get(hashed.toString('hex'));
    return client && timingSafeEqual(hashed, client.digest) ? client.owner : undefined;
  };
  return (headers) => {
    const gatewayKey = headerValue(headers, gatewayKeyHeader);
    if (gatewayKey !== undefined) return ownerOf(gatewayKey);
    const authorization = headerValue(headers, 'authorization');
    const plainKey = headerValue(headers, 'x-api-key');
    if (!apiKey && authorization === undefined && plainKey === undefined) return keyless;
    const bearer = ownerOf(/^bearer +(.*)$/is.exec(authorization ?? '')?.[1]);
    const plain = ownerOf(plainKey);
    return plain?.type === 'administrator' ? plain : (bearer ?? plain);
  };
};

/** Whether a request carries a key, right or wrong. */
export const carriesKey = (headers: HeaderList): boolean =>
  [gatewayKeyHeader, 'authorization', 'x-api-key'].some((name) => headerValue(headers, name) !== undefined);

const administrator: KeyOwner = { type: 'administrator' };
const keyless: KeyOwner = { type: 'keyless' };

/** Keys of at most this many characters are compared as they are, longer ones by their digests. */
const plainKeyChars = 128;

/** A character has at most three bytes in UTF-8. Two more hold the number of bytes. */
const blockBytes = 2 + 3 * plainKeyChars;

/** Compares keys with `key` in constant time. */
const sameKey = (key: string): ((given: string) => boolean) => {
  if (key.length > plainKeyChars) {
    const expected = digest(key);
    return (given) => timingSafeEqual(digest(given), expected);
  }
  const expected = writeKey(Buffer.alloc(blockBytes), key);
  const block = Buffer.alloc(blockBytes);
  return (given) => given.length <= plainKeyChars && timingSafeEqual(writeKey(block, given), expected);
};

/** Fills a block with a key: the number of its bytes, the bytes, zeros. */
const writeKey = (block: Buffer, key: string): Buffer => {
  const bytes = block.write(key, 2, 'utf8');
  block.writeUInt16LE(bytes, 0);
  return block.fill(0, 2 + bytes);
};

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** The host names that requests may address. */
export interface OriginGuardSettings {
  /** The listen address. A wildcard allows every address literal: DNS rebinding needs a name. */
  readonly host: string;
  /** Further hosts, whose pages may call too; without a port, at any port. */
  readonly allowedHosts: readonly string[];
  /** Origins of pages that may call the paths for clients, in lower case; absent: none. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/**
 * The reason to reject a request; `undefined`: the request is allowed. `anyHost`: whatever host it names. `anyPage`: from whatever page
 * it comes.
 */
type OriginGuard = (headers: HeaderList, anyHost?: boolean, anyPage?: boolean) => Fault | undefined;

/**
 * Rejects requests from foreign web pages. DNS rebinding shows in `Host`, a cross-origin request in `Origin` or
 * `Sec-Fetch-Site`. Source: Fetch standard, "Origin header"; Fetch Metadata, "Sec-Fetch-Site".
 */
export const originGuard = ({ host, allowedHosts }: OriginGuardSettings): OriginGuard => {
  const wildcard = host === '0.0.0.0' || host === '::' || host === '[::]';
  const listening = parseHostName(host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);
  const listed = allowedHosts.map(parseHostName).filter((name) => name !== undefined);
  const isListed = (asked: HostName): boolean =>
    listed.some(({ name, port }) => name === asked.name && (port === '' || port === asked.port));
  const isOwn = (asked: HostName): boolean =>
    isLoopbackHost(asked) || (wildcard && asked.isAddress) || asked.name === listening?.name || isListed(asked);

  /** Cache: clients send the same few hosts. */
  const known = new BoundedMap<string, HostName | undefined>(maxKnown);
  const ownHost = (text: string): HostName | undefined => {
    const asked = parseHostName(text);
    return asked && isOwn(asked) ? asked : undefined;
  };

  return (headers, anyHost = false, anyPage = false) => {
    const hosts = valuesOf(headers, 'host');
    const own = hosts.length === 1 ? known.remember(hosts[0] ?? '', ownHost) : undefined;
    if (!own && !anyHost) return forbidden('Host', 'names a host that is not allowed');
    if (anyPage) return undefined;
    const site = valuesOf(headers, 'sec-fetch-site');
    if (site.some((value) => !allowedSites.has(value)))
      return forbidden('Sec-Fetch-Site', 'says that another site sent the request');
    const origins = valuesOf(headers, 'origin');
    if (origins.length === 0) return undefined;
    const origin = origins.length === 1 ? parseOrigin(origins[0] ?? '') : undefined;
    const isAllowed = origin && ((own && isSame(origin, own)) || isListed(origin));
    return isAllowed ? undefined : forbidden('Origin', 'is not an origin of this service');
  };
};

/** Whether a request names a loopback host once, and comes from a page of that very host and port, or from none. */
export const isFromOwnPage = (headers: HeaderList): boolean => {
  const hosts = valuesOf(headers, 'host');
  const own = hosts.length === 1 ? parseHostName(hosts[0] ?? '') : undefined;
  if (!own || !isLoopbackHost(own)) return false;
  return valuesOf(headers, 'origin').every((text) => {
    const origin = parseOrigin(text);
    return origin !== undefined && isSame(origin, own);
  });
};

/** The origin of the page that sent a request, in lower case; `undefined`: none, or several. */
export const originIn = (headers: HeaderList): string | undefined => {
  const origins = valuesOf(headers, 'origin');
  return origins.length === 1 ? origins[0]?.toLowerCase() : undefined;
};

/** `same-site` means another port or a sibling domain: `Origin` decides then. */
const allowedSites: ReadonlySet<string> = new Set(['none', 'same-origin', 'same-site']);

const forbidden = (header: string, what: string): Fault => ({
  kind: 'forbidden',
  message: `The request's ${header} header ${what}. ALLOWED_HOSTS in the configuration lists further hosts, ALLOWED_ORIGINS pages that may call the model routes.`,
});

const maxKnown = 100;

const valuesOf = (headers: HeaderList, name: string): readonly string[] => {
  let values: string[] | undefined;
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] !== name) continue;
    const value = headers[at + 1] ?? '';
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

/**
 * Whether an origin is the service's own: the host and the port that the request names. Another port is another program, whose
 * pages are as foreign as those of other machines. All loopback names are the same host.
 */
const isSame = (origin: Origin, own: HostName): boolean =>
  (origin.port || origin.defaultPort) === (own.port || origin.defaultPort) &&
  (origin.name === own.name || (isLoopbackHost(origin) && isLoopbackHost(own)));

/** Distinguishes proxies from clients. */
export interface TrustedProxies {
  /** Whether a connection comes from a trusted proxy, which forwards requests of many clients. */
  readonly includes: (remoteAddress: string) => boolean;
  /** The address of the client that sent a request. Must be called while the server's handler runs. */
  readonly clientOf: (stream: ClientStream) => string;
  /** The path of a request, without the one below which a proxy serves the gateway (`X-Forwarded-Prefix`), if it left that in. */
  readonly pathOf: (stream: Pick<HttpStream, 'remoteAddress' | 'headers' | 'path'>) => string;
}

type ClientStream = Pick<HttpStream, 'remoteAddress' | 'proxiedAddress' | 'headers'>;

/**
 * Treats `networks` (addresses, or networks as `10.0.0.0/8`) as proxies in front of the service. Only their information about
 * clients is trusted: by the PROXY protocol, or in `X-Forwarded-For`, whose last address that isn't a proxy's is the client's.
 * The client itself may have written the earlier ones.
 */
export const trustedProxies = (networks: readonly string[]): TrustedProxies => {
  if (networks.length === 0)
    return { includes: () => false, clientOf: ({ remoteAddress }) => remoteAddress, pathOf: ({ path }) => path };
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = familyOf(address);
    list.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  const includes = (address: string): boolean => list.check(address, familyOf(address));
  return {
    includes,
    clientOf(stream) {
      let client = stream.remoteAddress;
      if (!includes(client)) return client;
      client = stream.proxiedAddress() || client;
      const hops = headerValue(stream.headers, 'x-forwarded-for')?.split(',') ?? [];
      for (let at = hops.length - 1; at >= 0 && includes(client); at -= 1) {
        const earlier = hopAddress(hops[at]?.trim() ?? '');
        if (earlier === undefined) break;
        client = earlier;
      }
      return client;
    },
    pathOf({ remoteAddress, headers, path }) {
      const prefix = includes(remoteAddress)
        ? headerValue(headers, 'x-forwarded-prefix')?.replace(/\/$/, '')
        : undefined;
      return prefix && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
    },
  };
};

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** An address as proxies write it, some with its port; `undefined` for names and anything else. */
const hopAddress = (text: string): string | undefined => {
  if (isIPv6(text)) return text.includes('%') ? undefined : shortAddress(text);
  const host = parseHostName(text);
  return host?.isAddress ? host.name : undefined;
};
