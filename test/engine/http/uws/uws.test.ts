import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import test from 'ava';
import { loadUws, UwsUnavailable, uwsCandidates, uwsMissing, uwsReleases } from '../../../../engine/http/uws/uws.ts';
import {
  ForeignNative,
  nativeBuild,
  nativeHashes,
  nativePackage,
  verifyNative,
} from '../../../../engine/http/uws/verify-native.ts';

const newer = 'uWebSockets.js';
const older = 'uWebSockets.js-glibc227';

const candidates = [
  ['20.19.0', [older]],
  ['20.20.2', [older]],
  ['22.12.0', [newer, older]],
  ['24.1.0', [newer, older]],
  ['26.0.0-nightly', [newer, older]],
] as const;

for (const [node, expected] of candidates) {
  test(`on Node ${node} ${expected[0]} comes first`, (t) => t.deepEqual(uwsCandidates(node), expected));
}

test('a build loads here, with room for large heads', (t) => {
  t.is(typeof loadUws().uws.App, 'function');
  t.is(process.env.UWS_HTTP_MAX_HEADERS_SIZE, '65536');
});

test('the error is one line with the platform and the supported ones', (t) => {
  const { message: line } = uwsMissing({ platform: 'linux', arch: 'riscv64', node: '21.0.0', glibc: '' });
  for (const word of ['linux', 'riscv64', '21.0.0', 'glibc absent', '2.27', '2.38', 'Node 20'])
    t.true(line.includes(word));
  t.false(line.includes('\n'));
  const { reason } = uwsMissing({ platform: 'darwin', arch: 'arm64', node: '21.0.0', glibc: '' });
  t.is(reason, 'No build of uWebSockets.js runs here (darwin arm64, Node 21.0.0)');
});

/** The URL of a folder whose node_modules hold the packages, each with these builds on offer and none installed. */
const withoutBuilds = (offered: readonly string[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'junctor-uws-'));
  for (const name of [newer, older]) {
    const own = join(folder, 'node_modules', name);
    mkdirSync(own, { recursive: true });
    const optionalDependencies = Object.fromEntries(offered.map((build) => [`@uwsjs/${build}`, '1.0.0']));
    writeFileSync(join(own, 'package.json'), JSON.stringify({ name, main: 'uws.js', optionalDependencies }));
    writeFileSync(join(own, 'uws.js'), '');
  }
  return { url: new URL(`${pathToFileURL(folder).href}/`), remove: () => rmSync(folder, { recursive: true }) };
};

const unavailable = (from: URL): UwsUnavailable => {
  try {
    loadUws(from);
  } catch (error) {
    if (error instanceof UwsUnavailable) return error;
    throw error;
  }
  throw new Error('a build was loaded');
};

test('a missing installation is distinguished from an unsupported platform', (t) => {
  const { platform, arch, versions } = process;
  const here = `${platform}-${arch}-${versions.node.split('.')[0]}`;
  for (const [offered, says] of [
    [[here], /^uWebSockets\.js is not installed for Node .*: run `npm install` again with this Node\.$/],
    [['plan9-x64-20'], /^No build of uWebSockets\.js runs here /],
  ] as const) {
    const { url, remove } = withoutBuilds(offered);
    t.teardown(remove);
    const { message, isFixable } = unavailable(url);
    t.regex(message, says);
    t.is(isFixable, offered[0] === here);
  }
  t.is(
    unavailable(new URL('file:///nowhere/')).message,
    'uWebSockets.js is not installed: run `npm install --include=optional`.',
  );
});

test('a build that does not match its record gives way to the older one, and is named if there is none', (t) => {
  const { url, remove } = withoutBuilds([]);
  t.teardown(remove);
  const build = (name: string, bytes: string) => {
    const own = join(fileURLToPath(url), 'node_modules', name, 'node_modules', nativePackage());
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'uws.node'), bytes);
    writeFileSync(join(own, '..', '..', '..', 'uws.js'), `exports.App = () => '${name}';`);
    return createHash('sha256').update(bytes).digest('hex');
  };
  const here = `${process.platform}-${process.arch}-${process.versions.node.split('.')[0]}`;
  const record = (newerHash: string, olderHash: string) => ({
    [uwsReleases[newer] ?? '']: { [here]: newerHash },
    [uwsReleases[older] ?? '']: { [here]: olderHash },
  });
  const hashes = [build(newer, 'the older binary'), build(older, 'the same older binary')] as const;
  t.throws(() => loadUws(url, '22.12.0', record('0', '1')), { instanceOf: ForeignNative, message: /20\.69\.0/ });
  const { uws, version } = loadUws(url, '22.12.0', record('0', hashes[1]));
  t.is(version, uwsReleases[older] ?? '');
  t.is(String(uws.App()), older);
});

const platform = 'linux-x64-20';

/** A file in the place of a native build, and its hash. */
const fakeBuild = (bytes: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'junctor-native-'));
  const file = join(folder, 'uws.node');
  writeFileSync(file, bytes);
  return {
    build: { version: '1.0.0', platform, file },
    hash: createHash('sha256').update(bytes).digest('hex'),
    remove: () => rmSync(folder, { recursive: true }),
  };
};

test('S17 a native build that differs from its record is rejected, one without a record is reported, the recorded one is loaded', (t) => {
  const { build, hash, remove } = fakeBuild('another build');
  t.teardown(remove);
  t.is(verifyNative(build, { '1.0.0': { [platform]: hash } }), undefined);
  const error = t.throws(() => verifyNative(build, { '1.0.0': { [platform]: '0'.repeat(64) } }), {
    instanceOf: ForeignNative,
  });
  for (const word of ['1.0.0', platform, hash, '0'.repeat(64)]) t.true(error.message.includes(word), word);
  t.false(error.message.includes('\n'));
  t.false(error.message.includes(build.file), 'no path');
  for (const recorded of [{}, { '1.0.0': {} }, { '2.0.0': { [platform]: hash } }]) {
    t.regex(verifyNative(build, recorded) ?? '', new RegExp(`no recorded hash .*${hash}$`));
  }
  t.throws(() => verifyNative({ ...build, file: `${build.file}.gone` }, {}), { code: 'ENOENT' });
});

test('S17 the builds that are installed here are those recorded, and the releases those of package.json', (t) => {
  const { optionalDependencies }: { optionalDependencies: Record<string, string> } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  );
  const require = createRequire(import.meta.url);
  for (const [name, version] of Object.entries(uwsReleases)) {
    t.is(optionalDependencies[name], `npm:@uwsjs/core@${version}`);
    t.truthy(nativeHashes[version], 'builds of this release are recorded');
  }
  for (const name of uwsCandidates(process.versions.node)) {
    const build = nativeBuild(require.resolve(name), uwsReleases[name] ?? '');
    if (nativeHashes[build.version]?.[build.platform] === undefined) t.log(`no record: ${build.platform}`);
    else t.is(verifyNative(build), undefined);
  }
  for (const hash of Object.values(nativeHashes).flatMap((rows) => Object.values(rows)))
    t.regex(hash, /^[0-9a-f]{64}$/);
});
