import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { nativeHashes } from './native-hashes.ts';

/** A native build that isn't the one recorded under its name: it must not be loaded. The message is one line for users. */
export class ForeignNative extends Error {
  override readonly name = 'ForeignNative';
}

/** Which native build a package would load here. */
export interface NativeBuild {
  /** The package's release. */
  readonly version: string;
  /** `linux-x64-20`. */
  readonly platform: string;
  readonly file: string;
}

/** The native build that a package would load on this machine. Throws when there is none. */
export const nativeBuild = (packageFile: string, version: string): NativeBuild => {
  const platform = `${process.platform}-${process.arch}-${process.versions.node.split('.')[0]}`;
  return { version, platform, file: createRequire(packageFile).resolve(`@uwsjs/${platform}/uws.node`) };
};

/**
 * Compares a native build with its record before any of it runs. A build without a record may run: the line that is given back
 * says so. Throws a `ForeignNative` for one that differs from its record, and what reading the file throws.
 */
export const checkNative = ({ version, platform, file }: NativeBuild, recorded = nativeHashes): string | undefined => {
  const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
  const expected = recorded[version]?.[platform];
  if (hash === expected) return undefined;
  const what = `the native build of uWebSockets.js ${version} for ${platform}`;
  if (expected === undefined) return `${what} has no recorded hash to compare with; its SHA-256 is ${hash}`;
  throw new ForeignNative(
    `Can't start: ${what} is not the one that was recorded (SHA-256 ${hash}, not ${expected}). ` +
      'Install the packages anew; docs/SECURITY.md tells how to admit a build of your own.',
  );
};
