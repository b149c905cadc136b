import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js-glibc227';
import { createRequire } from 'node:module';
import { root } from '../paths.ts';
import { ForeignNative, nativeBuild, nativePackage, verifyNative } from './verify-native.ts';

/** The used part of a native request; valid only while its handler runs. */
export type UwsRequest = Pick<HttpRequest, 'getUrl' | 'getQuery' | 'getCaseSensitiveMethod' | 'forEach'>;

/** The used part of a native response. Must not be used after its end or abort. */
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

/** An open listening socket. */
export type UwsListenSocket = us_listen_socket;

/** The used part of an app. */
export interface UwsApp extends Pick<TemplatedApp, 'close'> {
  readonly any: (pattern: string, handler: (res: UwsResponse, req: UwsRequest) => void) => UwsApp;
  /** Called for each connection: with 1 when it opens, with a negative number when it closes. */
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
  /** A one-line warning for the operator when the build has no recorded hash. */
  readonly warning: string | undefined;
}

/**
 * Packages to try, best first. The newer one has no build for Node 20; there it would load the older package's binary, which
 * has the same file name.
 */
export const uwsCandidates = (node: string): readonly string[] =>
  Number.parseInt(node, 10) >= 22 ? [newer, older] : [older];

/** The one-line error when no build runs here, with the supported platforms. */
export const uwsMissing = ({ platform, arch, node, glibc }: Runtime): string =>
  `No build of uWebSockets.js runs here (${platform} ${arch}, ${platform === 'linux' ? `glibc ${glibc || 'absent'}, ` : ''}` +
  `Node ${node}): use Node 20 or 22 with glibc 2.27 or later, or Node 22, 24 or 26 with glibc 2.38 or later, on Linux ` +
  '(not Alpine), macOS or Windows.';

/** The one-line error when the build for this Node.js was not installed: npm omits builds for other releases. */
const uwsNotInstalled = ({ platform, arch, node }: Runtime): string =>
  `The packages were not installed for Node ${node} (${platform} ${arch}): run \`npm install\` again with this Node.`;

/**
 * Loads the best build of uWebSockets.js that runs here. `from`: the folder that resolves the packages. Throws a one-line
 * error when no build runs here, or when a build doesn't match its recorded hash; such a build is never executed.
 */
export const loadUws = (from: URL = root): LoadedUws => {
  // The native code reads this when it loads. Its default of 4 KiB is too small for some clients.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(maxHeadBytes);
  const require = createRequire(from);
  const names = uwsCandidates(process.versions.node);
  const causes: unknown[] = [];
  for (const name of names) {
    try {
      const warning = verifyNative(nativeBuild(require.resolve(name), uwsReleases[name] ?? ''));
      // `require` returns `any`; `Uws` is the API that both packages document.
      const uws: Uws = require(name);
      return { uws, warning };
    } catch (cause) {
      if (cause instanceof ForeignNative) throw cause;
      causes.push(cause);
    }
  }
  const describe = names.some((name) => isNotInstalled(require, name)) ? uwsNotInstalled : uwsMissing;
  throw new Error(describe(thisRuntime()), { cause: new AggregateError(causes) });
};

/** Whether a package, or its build for this machine, is missing from node_modules. */
const isNotInstalled = (require: NodeJS.Require, name: string): boolean => {
  try {
    const ownRequire = createRequire(require.resolve(name));
    const manifest: { readonly optionalDependencies?: Readonly<Record<string, string>> } = ownRequire('./package.json');
    if (manifest.optionalDependencies?.[nativePackage()] === undefined) return false;
    ownRequire.resolve(`${nativePackage()}/uws.node`);
    return false;
  } catch {
    return true;
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
