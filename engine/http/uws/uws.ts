import type {
  HttpRequest,
  HttpResponse,
  us_listen_socket,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from 'uWebSockets.js-glibc227';
import { createRequire } from 'node:module';
import { root } from '../../paths.ts';
import { ForeignNative, nativeBuild, nativeHashes, nativePackage, verifyNative } from './verify-native.ts';

/** The used part of a native request; valid only while its handler runs. */
export type UwsRequest = Pick<HttpRequest, 'getUrl' | 'getQuery' | 'getCaseSensitiveMethod' | 'forEach'>;

/** Without the returned response, by which calls can be chained. */
type Unchained<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => HttpResponse ? (...args: A) => void : T[K];
};

/** The used part of a native response. Must not be used after its end or abort. */
export type UwsResponse = Unchained<
  Pick<
    HttpResponse,
    | 'writeStatus'
    | 'writeHeader'
    | 'write'
    | 'end'
    | 'endWithoutBody'
    | 'tryEnd'
    | 'getWriteOffset'
    | 'cork'
    | 'close'
    | 'pause'
    | 'resume'
    | 'onAborted'
    | 'onData'
    | 'onWritable'
    | 'getRemoteAddress'
    | 'getProxiedRemoteAddress'
    | 'upgrade'
  >
>;

/** The context for accepting a handshake. */
export type UwsContext = us_socket_context_t;

/** The used part of a native WebSocket. Must not be used after its close. */
export type UwsWebSocket<D> = Pick<
  WebSocket<D>,
  'send' | 'getBufferedAmount' | 'cork' | 'ping' | 'end' | 'close' | 'getUserData'
>;

/** The used part of the options and handlers of WebSockets. */
export interface UwsBehavior<D>
  extends Pick<
    WebSocketBehavior<D>,
    'maxPayloadLength' | 'idleTimeout' | 'maxBackpressure' | 'sendPingsAutomatically'
  > {
  readonly upgrade: (res: UwsResponse, req: UwsRequest, context: UwsContext) => void;
  readonly open: (ws: UwsWebSocket<D>) => void;
  readonly message: (ws: UwsWebSocket<D>, message: ArrayBuffer, isBinary: boolean) => void;
  readonly drain: (ws: UwsWebSocket<D>) => void;
  readonly ping?: (ws: UwsWebSocket<D>, content: ArrayBuffer) => void;
  readonly pong: (ws: UwsWebSocket<D>) => void;
  readonly close: (ws: UwsWebSocket<D>) => void;
}

/** An open listening socket. */
export type UwsListenSocket = us_listen_socket;

/** The used part of an app. */
export interface UwsApp {
  readonly close: () => void;
  readonly any: (pattern: string, handler: (res: UwsResponse, req: UwsRequest) => void) => UwsApp;
  readonly ws: <D>(pattern: string, behavior: UwsBehavior<D>) => UwsApp;
  /** Called for each connection: with 1 when it opens, with a negative number when it closes, but not for a WebSocket's close. */
  readonly filter: (count: (res: UwsResponse, change: number) => void) => UwsApp;
  /** Options with a host are missing from the packages' declarations; both builds accept them. */
  readonly listen: (
    host: string,
    port: number,
    options: number,
    done: (socket: UwsListenSocket | false) => void,
  ) => UwsApp;
}

/** The used part of the API that both builds share. */
export interface Uws {
  readonly App: () => UwsApp;
  readonly us_listen_socket_close: (socket: UwsListenSocket) => void;
  readonly us_socket_local_port: (socket: UwsListenSocket) => number;
  /** Without this option several processes may share a port. */
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

/** The properties of the machine that decide which build can run. */
interface Runtime {
  readonly platform: string;
  readonly arch: string;
  /** Node.js version without the `v`. */
  readonly node: string;
  /** Version of the GNU C library; empty where there is none. */
  readonly glibc: string;
}

/** Maximum size of a request head in bytes. */
const maxHeadBytes = 65_536;

const newer = 'uWebSockets.js';
const older = 'uWebSockets.js-glibc227';

/** The pinned release of each package; a test compares it with package.json. */
export const uwsReleases: Readonly<Record<string, string>> = { [newer]: '20.69.0', [older]: '20.51.4' };

/** The loaded build. */
interface LoadedUws {
  readonly uws: Uws;
  /** Release of uWebSockets.js. */
  readonly version: string;
  /** A one-line warning for the operator when the build has no recorded hash. */
  readonly warning: string | undefined;
}

/**
 * Packages to try, best first. The newer one has no build for Node 20; there it would load the older package's binary, which
 * has the same file name.
 */
export const uwsCandidates = (node: string): readonly string[] =>
  Number.parseInt(node, 10) >= 22 ? [newer, older] : [older];

/** No build of uWebSockets.js can be loaded. The message is one line for users: the reason, and what to do. */
export class UwsUnavailable extends Error {
  override readonly name = 'UwsUnavailable';
  readonly reason: string;
  /** The remedy is a command for this machine. */
  readonly isFixable: boolean;

  constructor(reason: string, remedy: string, isFixable: boolean, cause?: unknown) {
    super(`${reason}: ${remedy}.`, { cause });
    this.reason = reason;
    this.isFixable = isFixable;
  }
}

/** No build runs on this machine; the remedy names the supported ones. */
export const uwsMissing = ({ platform, arch, node, glibc }: Runtime, cause?: unknown): UwsUnavailable =>
  new UwsUnavailable(
    `No build of uWebSockets.js runs here (${platform} ${arch}, ` +
      `${platform === 'linux' ? `glibc ${glibc || 'absent'}, ` : ''}Node ${node})`,
    'use Node 20 or 22 with glibc 2.27 or later, or Node 22, 24 or 26 with glibc 2.38 or later, on Linux ' +
      '(not Alpine), macOS or Windows',
    false,
    cause,
  );

/** A package isn't installed: npm was told to omit optional packages, or installed builds for another Node.js release. */
const uwsNotInstalled = ({ platform, arch, node }: Runtime, hasPackage: boolean, cause: unknown): UwsUnavailable =>
  hasPackage
    ? new UwsUnavailable(
        `uWebSockets.js is not installed for Node ${node} (${platform} ${arch})`,
        'run `npm install` again with this Node',
        true,
        cause,
      )
    : new UwsUnavailable('uWebSockets.js is not installed', 'run `npm install --include=optional`', true, cause);

/** Loaded builds by file: a process loads a native file once, so it is read and hashed once. */
const loaded = new Map<string, LoadedUws>();

/**
 * Loads the best build of uWebSockets.js that runs here. `from`: the folder that resolves the packages; `recorded`: the hashes
 * of their builds. Throws
 * `ForeignNative` when no build can be loaded and one doesn't match its recorded hash, else `UwsUnavailable`. A build that doesn't
 * match is never executed.
 */
export const loadUws = (
  from: URL = root,
  node = process.versions.node,
  recorded: typeof nativeHashes = nativeHashes,
): LoadedUws => {
  // The native code reads this when it loads. Its default of 4 KiB is too small for some clients.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(maxHeadBytes);
  const require = createRequire(from);
  const names = uwsCandidates(node);
  const causes: unknown[] = [];
  for (const name of names) {
    try {
      const version = uwsReleases[name] ?? '';
      const build = nativeBuild(require.resolve(name), version);
      const known = loaded.get(build.file);
      if (known) return known;
      const warning = verifyNative(build, recorded);
      // `require` returns `any`; `Uws` is the API that both packages document.
      const uws: Uws = require(name);
      const result = { uws, version, warning };
      loaded.set(build.file, result);
      return result;
    } catch (cause) {
      causes.push(cause);
    }
  }
  const foreign = causes.find((cause) => cause instanceof ForeignNative);
  if (foreign) throw foreign;
  throw unavailable(require, names, new AggregateError(causes));
};

const unavailable = (require: NodeJS.Require, names: readonly string[], cause: unknown): UwsUnavailable => {
  const runtime = thisRuntime();
  const states = names.map((name) => installed(require, name));
  const isUnfit = (runtime.platform === 'linux' && runtime.glibc === '') || states.every((state) => state === 'all');
  return isUnfit ? uwsMissing(runtime, cause) : uwsNotInstalled(runtime, !states.includes('nothing'), cause);
};

/** Files in node_modules of a package and its build for this machine; `all` too where it has no such build. */
const installed = (require: NodeJS.Require, name: string): 'all' | 'no-build' | 'nothing' => {
  let ownRequire: NodeJS.Require;
  try {
    ownRequire = createRequire(require.resolve(name));
  } catch {
    return 'nothing';
  }
  try {
    const manifest: { readonly optionalDependencies?: Readonly<Record<string, string>> } = ownRequire('./package.json');
    if (manifest.optionalDependencies?.[nativePackage()] !== undefined)
      ownRequire.resolve(`${nativePackage()}/uws.node`);
    return 'all';
  } catch {
    return 'no-build';
  }
};

const thisRuntime = (): Runtime => ({
  platform: process.platform,
  arch: process.arch,
  node: process.versions.node,
  glibc: glibcVersion(process.report?.getReport()),
});

const glibcVersion = (report: unknown): string => {
  const header = typeof report === 'object' && report !== null && 'header' in report ? report.header : undefined;
  const version =
    typeof header === 'object' && header !== null && 'glibcVersionRuntime' in header ? header.glibcVersionRuntime : '';
  return typeof version === 'string' ? version : '';
};
