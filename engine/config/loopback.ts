import { isIPv4, isIPv6 } from 'node:net';

/** Whether a host name or address, with or without brackets, can only be reached from this machine. */
export const isLoopback = (host: string): boolean => {
  const name = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .replace(/%.*$/, '');
  if (isIPv4(name)) return name.startsWith('127.');
  if (!isIPv6(name)) return name === 'localhost' || name.endsWith('.localhost');
  const plain = new URL(`http://[${name}]/`).hostname.slice(1, -1);
  // An IPv4-mapped address is written back in hexadecimal: 127.0.0.1 as 7f00:1.
  return plain === '::1' || /^::ffff:7f[0-9a-f]{2}:/.test(plain);
};
