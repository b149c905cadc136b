import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js-glibc227';
import { createRequire } from 'node:module';
import { root } from '../places.ts';
import { checkNative, ForeignNative, nativeBuild } from './check-native.ts';

/** What is used of a request; valid only while its handler runs. */
export type UwsRequest = Pick<HttpRequest, 'getUrl' | 'getQuery' | 'getCaseSensitiveMethod' | 'forEach'>;

/** What is used of a response. It may not be touched after its end or its abort. */
export type UwsResponse = Pick<
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
>;

/** A port held open. */
export type UwsListenSocket = us_listen_socket;

/** What is used of an app. */
export interface UwsApp extends Pick<TemplatedApp, 'close'> {
  readonly any: (pattern: string, handler: (res: UwsResponse, req: UwsRequest) => void) => UwsApp;
  /** Calls back for each connection: with 1 when it was opened, with a negative number when it was closed. */
  readonly filter: (count: (res: UwsResponse, change: number) => void) => UwsApp;
  /** Options beside a host are missing from the packages' declarations; both builds take them. */
  readonly listen: (
    host: string,
    port: number,
    options: number,
    done: (socket: UwsListenSocket | false) => void,
  ) => UwsApp;
}

/** The API that both builds share, as far as it is used. */
export interface Uws {
  readonly App: () => UwsApp;
  readonly us_listen_socket_close: (socket: UwsListenSocket) => void;
  readonly us_socket_local_port: (socket: UwsListenSocket) => number;
  /** Without it the kernel may share a port among processes. */
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

/** The machine as far as it decides which build can run. */
export interface Runtime {
  readonly platform: string;
  readonly arch: string;
  /** Node.js version without the `v`. */
  readonly node: string;
  /** Version of the GNU C library; empty where there is none. */
  readonly glibc: string;
}

/** Bytes that the head of a request may have. */
export const maxHeadBytes = 65_536;

const newer = 'uWebSockets.js';
const older = 'uWebSockets.js-glibc227';

/** The release that each package is pinned to; a test compares it with package.json. */
export const uwsReleases: Readonly<Record<string, string>> = { [newer]: '20.69.0', [older]: '20.51.4' };

/** What was loaded. */
export interface LoadedUws {
  readonly uws: Uws;
  /** A line for whoever starts the service, where the build couldn't be compared with a recorded one. */
  readonly warning: string | undefined;
}

/**
 * Packages to try, best first. The newer build never was made for Node 20; asked there all the same, it would find the older
 * build's binary, which lies beside it under a name that fits both.
 */
export const uwsCandidates = (node: string): readonly string[] =>
  Number.parseInt(node, 10) >= 22 ? [newer, older] : [older];

/** One line that says why there is no listener, and what would help. */
export const uwsMissing = ({ platform, arch, node, glibc }: Runtime): string =>
  `No build of uWebSockets.js runs here (${platform} ${arch}, ${platform === 'linux' ? `glibc ${glibc || 'absent'}, ` : ''}` +
  `Node ${node}): use Node 20 or 22 with glibc 2.27 or later, or Node 22, 24 or 26 with glibc 2.38 or later, on Linux ` +
  '(not Alpine), macOS or Windows.';

/**
 * The best build of uWebSockets.js that runs here. Throws an error of one line when none does, or one isn't what its name says:
 * then nothing of it was run.
 */
export const loadUws = (): LoadedUws => {
  // Read by the native code when it is loaded; its default is 4 KiB, and clients send more.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(maxHeadBytes);
  const require = createRequire(root);
  const causes: unknown[] = [];
  for (const name of uwsCandidates(process.versions.node)) {
    try {
      const warning = checkNative(nativeBuild(require.resolve(name), uwsReleases[name] ?? ''));
      // The border to native code: `require` gives `any`, and the interface above is what both packages document.
      const uws: Uws = require(name);
      return { uws, warning };
    } catch (cause) {
      if (cause instanceof ForeignNative) throw cause;
      causes.push(cause);
    }
  }
  throw new Error(uwsMissing(thisRuntime()), { cause: new AggregateError(causes) });
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
