import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** A native build doesn't match its recorded hash and must not be loaded. The message is one line for users. */
export class ForeignNative extends Error {
  override readonly name = 'ForeignNative';
}

/** The native build that a package loads on this machine. */
interface NativeBuild {
  /** The package's release. */
  readonly version: string;
  /** `linux-x64-20`. */
  readonly platform: string;
  readonly file: string;
}

/** Finds the native build that a package loads on this machine. Throws when there is none. */
export const nativeBuild = (packageFile: string, version: string): NativeBuild => {
  const file = createRequire(packageFile).resolve(`${nativePackage()}/uws.node`);
  return { version, platform: platformName(), file };
};

/** The package with the native build for this machine and Node.js release. */
export const nativePackage = (): string => `@uwsjs/${platformName()}`;

const platformName = (): string => `${process.platform}-${process.arch}-${process.versions.node.split('.')[0]}`;

/**
 * Compares a native build with its recorded hash before it is loaded. Returns a one-line warning for a build without a
 * record, which may run. Throws `ForeignNative` for a mismatch, and the system's error when the file can't be read.
 */
export const verifyNative = ({ version, platform, file }: NativeBuild, recorded = nativeHashes): string | undefined => {
  const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
  const expected = recorded[version]?.[platform];
  if (hash === expected) return undefined;
  const what = `the native build of uWebSockets.js ${version} for ${platform}`;
  if (expected === undefined) return `${what} has no recorded hash to compare with; its SHA-256 is ${hash}`;
  throw new ForeignNative(
    `Can't start: ${what} does not match the recorded hash (SHA-256 ${hash}, not ${expected}). ` +
      'Reinstall the packages; docs/SECURITY.md describes how to allow a build of your own.',
  );
};

/**
 * SHA-256 of the native builds of uWebSockets.js, by release and `platform-arch-Node`. A third party repackages what
 * uNetworking publishes. Each hash is of the registry's archive whose SHA-512 the lock file holds; docs/SECURITY.md describes
 * how to add one.
 */
export const nativeHashes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '20.51.4': {
    'linux-x64-20': '4d482084b665c225892917ee0e9b9572d89eaa6f3dc200ff5e536293d3456c89',
    'linux-x64-22': 'f687e7c3666b5cca9d355184bbf07bb0550f5ba0d3ffd453248ccfec552dde6c',
  },
  '20.69.0': {
    'linux-x64-22': '34d235864db874fbf3aeafd48b63f6fb80f61fb584a86f1e5f7b0291dbd7a3d4',
    'linux-x64-24': '177efdc682425d754474bd30f9586c487fa6694f790f3406a23885d0e61c07a0',
    'linux-x64-26': '604375741bf77780b34e7e299af9274cb1f56d73732201d19e3d8d8448176795',
  },
};
