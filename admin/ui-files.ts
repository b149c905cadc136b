import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { type ContentCoding, encode } from './content-coding.ts';

/** A file of the web interface. */
interface UiFile {
  /** Media type. */
  readonly type: string;
  /** The name contains a content hash, so the file can be cached forever. */
  readonly hashed: boolean;
  /** Whether compression helps. */
  readonly compressible: boolean;
  /** Returns the encoded bytes, cached after the first call. Rejects if the file can't be read. */
  readonly load: (encoding: ContentCoding) => Promise<Uint8Array>;
}

/** Files by path relative to the folder, with slashes: `assets/index-4f2a9b1c.js`. */
export type UiFiles = ReadonlyMap<string, UiFile>;

/**
 * Returns the current files of a built web interface; rescans after a new build, since the first start builds it while it
 * serves. Empty if the folder is missing. Includes only files of known types.
 */
export const uiFilesIn = (folder: string): (() => Promise<UiFiles>) => {
  let known: { readonly build: string; readonly files: Promise<UiFiles> } | undefined;
  return async () => {
    const build = await buildOf(folder);
    if (known?.build !== build) known = { build, files: findUiFiles(folder) };
    return known.files;
  };
};

/** Identifies a build by its page, since a build replaces the whole folder. */
const buildOf = (folder: string): Promise<string> =>
  stat(join(folder, 'index.html')).then(
    ({ ino, mtimeMs }) => `${ino} ${mtimeMs}`,
    () => 'none',
  );

const findUiFiles = async (folder: string): Promise<UiFiles> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    const type = types[extname(entry.name)];
    const name = relative(folder, path).split(sep).join('/');
    return entry.isFile() && type !== undefined ? [[name, uiFile(path, type)] as const] : [];
  });
  return new Map(files);
};

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.wasm': 'application/wasm',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

const uiFile = (path: string, type: string): UiFile => {
  const kept = new Map<ContentCoding, Promise<Uint8Array>>();
  return {
    type,
    hashed: /-[\w-]{8}\.\w+$/.test(path),
    compressible: /^text|json|svg|wasm|x-icon/.test(type),
    load(encoding) {
      const known = kept.get(encoding);
      if (known) return known;
      const loading = readFile(path).then((bytes) => encode(bytes, encoding, 9));
      kept.set(encoding, loading);
      // Not cached on errors; the file may appear later.
      loading.catch(() => kept.delete(encoding));
      return loading;
    },
  };
};
