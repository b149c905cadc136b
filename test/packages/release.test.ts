import { execFileSync } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { componentsOf } from '../../deploy/components.js';
import { faultsOf, saveImage } from '../../deploy/release.js';

const root = resolve(import.meta.dirname, '../..');

const temporary = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-release-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

test('each place that names the version agrees, and one that does not is named', async (t) => {
  t.deepEqual(faultsOf(root, true), []);
  const { version }: { readonly version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const folder = await temporary(t);
  const chart = 'deploy/helm/junctor/Chart.yaml';
  const values = 'deploy/helm/junctor/values.yaml';
  const overlay = 'deploy/kubernetes/overlays/example/kustomization.yaml';
  const paths = ['package.json', 'package-lock.json', 'CHANGELOG.md', chart, values, overlay];
  const copy = (path: string) => cp(join(root, path), join(folder, path), { recursive: true });
  for (const path of paths) await copy(path);
  t.deepEqual(faultsOf(folder, true), []);
  for (const [path, before, after, fault] of [
    ['package-lock.json', `"version": "${version}"`, '"version": "9.9.9"', /^package-lock.json is 9.9.9, but/],
    ['CHANGELOG.md', `## [${version}]`, '## [9.9.9]', /^the newest version of CHANGELOG.md is 9.9.9/],
    ['CHANGELOG.md', /^(## \[\d\S*\]) - .*$/m, '$1', /has no date/],
    [chart, `appVersion: ${version}`, '', /^appVersion of Chart.yaml is missing/],
    [values, `junctor:${version}`, 'junctor:9.9.9', /^image of values.yaml is 9.9.9/],
    [overlay, `newTag: ${version}`, 'newTag: latest', /^newTag of .* is latest/],
  ] as const) {
    const text = await readFile(join(folder, path), 'utf8');
    const changed = text.replace(before, after);
    t.not(changed, text, path);
    await writeFile(join(folder, path), changed);
    const faults = faultsOf(folder, true);
    t.is(faults.length, 1, faults.join('\n'));
    t.regex(faults[0] ?? '', fault);
    await copy(path);
  }
  // A release needs its tag, too, and a changelog whose entries have a version.
  const log = await readFile(join(folder, 'CHANGELOG.md'), 'utf8');
  await writeFile(join(folder, 'CHANGELOG.md'), log.replace('## [Unreleased]\n', '## [Unreleased]\n\n- more\n'));
  const git = (...args: readonly string[]): void => void execFileSync('git', args, { cwd: folder, stdio: 'ignore' });
  git('init');
  git('-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '--allow-empty', '--message', 'all');
  t.deepEqual(faultsOf(folder, false), ['CHANGELOG.md: [Unreleased] is not empty', `HEAD has no tag v${version}`]);
  await writeFile(
    join(folder, 'CHANGELOG.md'),
    log.replace(/^## \[Unreleased\][\s\S]*?(?=^## \[\d)/m, '## [Unreleased]\n\n'),
  );
  git('tag', `v${version}`);
  t.deepEqual(faultsOf(folder, false), []);
});

test('the image is built on the base’s digest of the day', async (t) => {
  const folder = await temporary(t);
  const log = join(folder, 'log');
  // A stand-in for the engine: it notes what it is asked.
  const script = `#!/bin/sh\necho "$@" >>'${log}'\n[ "$1" != image ] || echo node@sha256:0123\n`;
  for (const name of ['docker', 'podman']) {
    await writeFile(join(folder, name), script);
    await chmod(join(folder, name), 0o755);
  }
  const { PATH = '' } = process.env;
  process.env.PATH = `${folder}:${dirname(process.execPath)}:${PATH}`;
  const base = saveImage(root, '1.2.3', '/a/file.tar');
  process.env.PATH = PATH;
  t.is(base, 'node@sha256:0123');
  t.deepEqual((await readFile(log, 'utf8')).trim().split('\n'), [
    'info',
    'pull node:22-trixie-slim',
    'image inspect --format {{index .RepoDigests 0}} node:22-trixie-slim',
    'build --build-arg BASE=node@sha256:0123 --tag junctor:1.2.3 .',
    'save --output /a/file.tar junctor:1.2.3',
  ]);
});

interface Listed {
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly object[];
}

test('the list of components names each package at run time, also those that packages for development need as well', async (t) => {
  const list = componentsOf(root);
  t.like(list, { bomFormat: 'CycloneDX', specVersion: '1.5', metadata: { component: { name: 'junctor' } } });
  const { components = [] }: { readonly components?: readonly Listed[] } = list;
  const named = components.map(({ name, version }) => `${name}@${version}`);
  const lock: { readonly packages: Record<string, { readonly version: string; readonly dev?: true }> } = JSON.parse(
    await readFile(join(root, 'package-lock.json'), 'utf8'),
  );
  const { '': _, ...packages } = lock.packages;
  const atRunTime = Object.values(packages).filter(({ dev }) => dev !== true);
  t.is(components.length, atRunTime.length);
  const { dependencies }: { readonly dependencies: Record<string, string> } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  );
  for (const [name, version] of Object.entries(dependencies)) t.true(named.includes(`${name}@${version}`), name);
  // Those that the registry doesn't serve.
  const unhashed = components.filter(({ hashes }) => hashes === undefined).map(({ name }) => name);
  t.deepEqual(
    unhashed.filter((name) => !name.startsWith('@uwsjs/')),
    [],
  );
});
