/** Where the service listens. */
export interface Place {
  /** The configuration's `HOST`. */
  readonly host: string;
  /** The configuration's `PORT`; 0 let the system choose. */
  readonly configuredPort: number;
  /** The port that is open. */
  readonly port: number;
  /** The addresses at which it is open. */
  readonly addresses: readonly string[];
}

/** How a process that starts opens the port, in the listener's words. */
export interface ListenAt {
  readonly host: string;
  readonly port: number;
  readonly share: { readonly addresses?: readonly string[] };
}

/** Joins the processes that listen already, if the configuration still asks for that place; else opens the one it asks for. */
export const listenAt = (
  { host, port }: { readonly host: string; readonly port: number },
  taken: Place | undefined,
): ListenAt =>
  taken && taken.host === host && taken.configuredPort === port
    ? { host, port: taken.port, share: { addresses: taken.addresses } }
    : { host, port, share: {} };

/** `http://127.0.0.1:3456`: what a client on this machine says. */
export const baseUrlOf = ({ port, addresses }: Place): string => {
  const [address = '127.0.0.1'] = addresses;
  // "Any address" can be listened on, but not be called everywhere.
  const callable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${callable.includes(':') ? `[${callable}]` : callable}:${port}`;
};
