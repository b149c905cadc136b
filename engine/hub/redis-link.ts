import { isIP } from 'node:net';
import type { RedisClientOptions } from '@redis/client';
import { within } from '../runtime/within.ts';

/** The connection to a store. */
export interface StoreAddress {
  /** `redis://` or `rediss://`; several are the nodes of a cluster, or sentinels. */
  readonly urls: readonly URL[];
  /** The primary's name among sentinels; absent: several addresses are a cluster. */
  readonly primary: string | undefined;
  /** Certificates of the authority that signed the store's, in PEM; absent: those of Node.js. */
  readonly ca: string | undefined;
}

/** A connection to a store, which is made again by itself. */
export interface StoreLink {
  /** Whether keys are on several nodes: a call reaches that of its key alone. */
  readonly isSpread: boolean;
  /** Sends a command. Rejects at once while there is no connection; a frozen store may never answer. */
  readonly send: (key: string, command: readonly string[]) => Promise<unknown>;
  readonly close: () => void;
}

/** Commands that wait for an answer, or for a reason why there is none, at a time. */
const maxQueue = 2_000;
/** Calls wait so long for the first connection, in milliseconds: less than they wait for an answer. */
const firstMs = 200;
const connectMs = 2_000;
const reconnectMs = 500;

/** Opens a connection. The client's package is loaded now, and only if there is a store. */
export const openLink = async ({ urls, primary, ca }: StoreAddress): Promise<StoreLink> => {
  // In the bundle, a CommonJS package that is loaded on first use has this one export.
  const { default: redis } = await import('@redis/client');
  const { ClientClosedError, ClientOfflineError, createClient, createCluster, createSentinel } = redis;
  const [first] = urls;
  if (!first) throw new Error('There is no address.');
  const ignore = (): void => undefined;
  /** Why there is no connection; none once there is one, though the store may not have answered on it. */
  let lost: unknown;
  /** Calls that wait for that reason. */
  const unexplained = new Set<(error: unknown) => void>();
  const note = (error: unknown): void => {
    lost = error;
    for (const explain of unexplained) explain(error);
    unexplained.clear();
  };
  const connected = (): void => {
    lost = undefined;
  };
  /** Reports the cause of a missing connection. */
  const explained = <T>(sent: Promise<T>): Promise<T> =>
    sent.catch((error: unknown) => {
      const isWithout = error instanceof ClientOfflineError || error instanceof ClientClosedError;
      if (!isWithout) throw error;
      if (lost !== undefined) throw lost;
      // It hasn't answered yet: its refusal or the caller's deadline ends that.
      return new Promise<never>((_, reject) => {
        if (unexplained.size < maxQueue) unexplained.add(reject);
      });
    });
  const isTls = first.protocol === 'rediss:';
  const isSingle = urls.length === 1 && primary === undefined;
  // An address isn't a name that TLS can ask for; nodes of a cluster and of sentinels have names of their own.
  const hasName = isSingle && isIP(first.hostname) === 0 && !first.hostname.startsWith('[');
  const socket = {
    connectTimeout: connectMs,
    reconnectStrategy: reconnectMs,
    ...(isTls && {
      tls: true as const,
      ...(hasName && { servername: first.hostname }),
      ...(ca !== undefined && { ca }),
    }),
  };
  const { username, password } = credentials(first);
  const common = {
    ...(username && { username }),
    ...(password && { password }),
    socket,
    disableOfflineQueue: true,
    commandsQueueMaxLength: maxQueue,
  } satisfies RedisClientOptions;
  if (isSingle) {
    const client = createClient({ ...common, url: first.href });
    client.on('error', note);
    client.on('connect', connected);
    await within(firstMs, client.connect());
    return {
      isSpread: false,
      send: (_, command) => explained(client.sendCommand(command)),
      close: () => client.destroy(),
    };
  }
  if (primary !== undefined) {
    const sentinel = createSentinel({
      name: primary,
      sentinelRootNodes: urls.map(({ hostname, port }) => ({ host: hostname, port: Number(port || sentinelPort) })),
      nodeClientOptions: common,
      sentinelClientOptions: common,
      scanInterval: scanMs,
    });
    sentinel.on('error', note);
    await within(firstMs, sentinel.connect().catch(note));
    return {
      isSpread: false,
      send: (_, command) => explained(sentinel.sendCommand(false, [...command])),
      close: () => void sentinel.destroy().catch(ignore),
    };
  }
  const cluster = createCluster({ rootNodes: urls.map(({ href }) => ({ url: href })), defaults: common });
  cluster.on('error', note);
  cluster.on('node-connect', connected);
  await within(firstMs, cluster.connect().catch(note));
  return {
    isSpread: true,
    send: (key, command) => explained(cluster.sendCommand(key, false, [...command])),
    close: () => cluster.destroy(),
  };
};

const sentinelPort = 26_379;
/** Interval at which sentinels are asked for the primary, in milliseconds. */
const scanMs = 2_000;

const credentials = ({ username, password }: URL) => ({
  username: decodeURIComponent(username),
  password: decodeURIComponent(password),
});
