import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test from 'ava';

const root = resolve(import.meta.dirname, '../..');

interface LockedPackage {
  readonly version: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

const { packages }: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));

/** The entry that `owner` finds under `name`: in its own node_modules, or in those of a folder around it. */
const find = (owner: string, name: string): LockedPackage | undefined => {
  const parts = owner.split('/node_modules/');
  const folders = parts.map((_, index) => parts.slice(0, parts.length - index).join('/node_modules/'));
  const places = [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`];
  return places.map((place) => packages[place]).find((entry) => entry !== undefined);
};

test('the lock file names every optional build of every package, for all platforms', (t) => {
  const missing = Object.entries(packages).flatMap(([owner, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name, version]) => {
        const entry = find(owner, name);
        return entry === undefined || (/^\d/.test(version) && entry.version !== version);
      })
      .map(([name, version]) => `${owner} needs ${name}@${version}`),
  );
  t.deepEqual(missing, []);
  // Builds that a registry doesn't serve stand without a hash: their platform is all that npm has to leave them out by.
  const unhashed = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && integrity === undefined);
  t.deepEqual(
    unhashed.filter(([, { optional, os, cpu }]) => !optional || !os || !cpu).map(([path]) => path),
    [],
  );
});

test('a machine that has no build of uWebSockets.js gets all other packages', (t) => {
  const servers = Object.entries(packages).filter(([path]) =>
    /(?:^|\/)(?:uWebSockets\.js[^/]*|@uwsjs\/[^/]+)$/.test(path),
  );
  t.true(servers.length > 2, 'the packages were found');
  t.deepEqual(
    servers.filter(([, { optional }]) => optional !== true).map(([path]) => path),
    [],
  );
});

test('the lock file names no registry', (t) => {
  const resolved = Object.entries(packages).filter(([, entry]) => entry.resolved !== undefined);
  t.deepEqual(
    resolved.map(([path]) => path),
    [],
  );
});

test('npx runs the command of this folder', async (t) => {
  const cache = await mkdtemp(join(tmpdir(), 'junctor-npm-'));
  t.teardown(() => rm(cache, { recursive: true, force: true }));
  const manifest: { readonly version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // Without a registry: what isn't here isn't fetched from elsewhere.
  const run = spawnSync('npx', ['--offline', 'junctor', '--version'], {
    cwd: root,
    env: { ...process.env, npm_config_cache: cache, npm_config_update_notifier: 'false' },
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  t.is(run.stdout.trim(), manifest.version, run.stderr);
});
