import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { headerValue } from './headers.ts';
import { parseHostName, shortAddress } from './host-name.ts';
import type { HttpStream } from './stream.ts';

/** Tells proxies from clients. */
export interface TrustedProxies {
  /** Whether a connection comes from a trusted proxy, which speaks for many clients. */
  readonly includes: (remoteAddress: string) => boolean;
  /** The address of the client that sent a request. Must be called while the server's handler runs. */
  readonly clientOf: (stream: ClientStream) => string;
}

type ClientStream = Pick<HttpStream, 'remoteAddress' | 'proxiedAddress' | 'headers'>;

/**
 * Takes `networks` (addresses, or networks as `10.0.0.0/8`) for the proxies in front of the service. Only what they say about
 * clients is believed: by the PROXY protocol, or in `X-Forwarded-For`, whose last address that isn't a proxy's is the client's.
 * Earlier ones are the client's own words.
 */
export const trustedProxies = (networks: readonly string[]): TrustedProxies => {
  if (networks.length === 0) return { includes: () => false, clientOf: ({ remoteAddress }) => remoteAddress };
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
  };
};

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** An address as proxies write it, some with its port; `undefined` for names and anything else. */
const hopAddress = (text: string): string | undefined => {
  if (isIPv6(text)) return text.includes('%') ? undefined : shortAddress(text);
  const host = parseHostName(text);
  return host?.isAddress ? host.name : undefined;
};
