import { networkInterfaces } from 'node:os';
import Type, { type Static } from 'typebox';
import type { PortSharing } from '../../http/listener.ts';

/** The address at which the service listens. */
export const ListenAddress = Type.Object({
  /** The configuration's `HOST`. */
  host: Type.String(),
  /** The configuration's `PORT`; 0: chosen by the system. */
  configuredPort: Type.Integer(),
  /** The actual port. */
  port: Type.Integer(),
  /** The actual IP addresses. */
  addresses: Type.Immutable(Type.Array(Type.String())),
});
export type ListenAddress = Readonly<Static<typeof ListenAddress>>;

/** Listener options of a new process. */
interface ListenAt {
  readonly host: string;
  readonly port: number;
  readonly share: PortSharing;
}

/**
 * Shares the port of running workers if the configured address is unchanged; else opens the configured one. If only the host
 * changes, both listen on the same port until the old workers close it.
 */
export const listenAt = (
  { host, port }: { readonly host: string; readonly port: number },
  taken: ListenAddress | undefined,
): ListenAt =>
  taken && taken.host === host && taken.configuredPort === port
    ? { host, port: taken.port, share: { addresses: taken.addresses } }
    : { host, port, share: taken && taken.port === port ? { closingAddresses: taken.addresses } : {} };

/** Base URL for clients on this machine: `http://127.0.0.1:3456`. */
export const baseUrlOf = (place: ListenAddress): string => urlOf(place, { '0.0.0.0': '127.0.0.1', '::': '::1' });

/**
 * Base URL for other machines: `http://10.0.0.7:3456`. A wildcard stands for the machine's first address that isn't loopback; if
 * there is none, for the loopback address.
 */
export const outerUrlOf = (place: ListenAddress, interfaces = networkInterfaces()): string => {
  const outer = Object.values(interfaces)
    .flatMap((some) => some ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid);
  const first = (outer.find(({ family }) => family === 'IPv4') ?? outer[0])?.address;
  return first === undefined ? baseUrlOf(place) : urlOf(place, { '0.0.0.0': first, '::': first });
};

/** Wildcard addresses can't be called, so `callable` replaces them. */
const urlOf = (
  { port, addresses: [address = '127.0.0.1'] }: ListenAddress,
  callable: Readonly<Record<string, string>>,
): string => {
  const host = callable[address] ?? address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
};
