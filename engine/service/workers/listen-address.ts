import type { PortSharing } from '../../http/listener.ts';

/** The address at which the service listens. */
export interface ListenAddress {
  /** The configuration's `HOST`. */
  readonly host: string;
  /** The configuration's `PORT`; 0: chosen by the system. */
  readonly configuredPort: number;
  /** The actual port. */
  readonly port: number;
  /** The actual IP addresses. */
  readonly addresses: readonly string[];
}

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
export const baseUrlOf = ({ port, addresses }: ListenAddress): string => {
  const [address = '127.0.0.1'] = addresses;
  // A wildcard address isn't callable on every platform, so the loopback address replaces it.
  const callable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${callable.includes(':') ? `[${callable}]` : callable}:${port}`;
};
