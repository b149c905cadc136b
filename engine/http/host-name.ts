import { isIPv4, isIPv6 } from 'node:net';

/** A host and port, from a `Host` header or an origin. */
export interface HostName {
  /** Lower case, no final dot; IPv6 in its shortest form, IPv4 (also mapped) in dotted form. */
  readonly name: string;
  /** Empty when none is given. */
  readonly port: string;
  readonly isAddress: boolean;
}

/** Parses `name`, `name:port` or `[address]:port`. `undefined` for anything else: user names, zones, paths, bare IPv6. */
export const parseHostName = (text: string): HostName | undefined => {
  const parts = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9._-]{1,254}))(?::([0-9]{1,5}))?$/i.exec(text);
  if (!parts) return undefined;
  const [, bracketed, plain = '', port = ''] = parts;
  if (Number(port) > 65_535) return undefined;
  if (bracketed !== undefined) {
    return isIPv6(bracketed) ? { name: shortAddress(bracketed), port, isAddress: true } : undefined;
  }
  const name = plain.toLowerCase().replace(/\.$/, '');
  if (isIPv4(name)) return { name, port, isAddress: true };
  return labels.test(name) ? { name, port, isAddress: false } : undefined;
};

/** Whether a host is a loopback name or address. */
export const isLoopbackHost = ({ name, isAddress }: HostName): boolean =>
  isAddress ? name === '::1' || name.startsWith('127.') : name === 'localhost';

/** An IPv6 address in its shortest form; a mapped IPv4 one in dotted form. */
export const shortAddress = (address: string): string => {
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (!mapped) return short;
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
};

/** Valid host names. The last label must not be all digits: some resolvers read that as an address. */
const labels = /^(?:[a-z0-9_-]+\.)*[a-z_-][a-z0-9_-]*$|^(?:[a-z0-9_-]+\.)*[0-9]+[a-z_-][a-z0-9_-]*$/;
