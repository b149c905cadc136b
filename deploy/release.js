// @ts-check
// Makes the files of a release: the package, its list of components, the image, and their checksums. It publishes nothing.
//
//   node deploy/release.js FOLDER            of the commit at hand, from a fresh clone of it, which must have the version's tag
//   node deploy/release.js FOLDER --dry-run  of this checkout as it is, without tag and image
//
// The same commit makes the same package and list with the same Node.js and npm, which `release.json` names: whoever doubts a release
// makes it again and compares.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { componentsOf } from './components.js';

/**
 * What disagrees about the version, a line each.
 * @param {string} root
 * @param {boolean} isDry
 * @returns {string[]}
 */
export const faultsOf = (root, isDry) => {
  /** @param {string} path */
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const { version } = JSON.parse(read('package.json'));
  const lock = JSON.parse(read('package-lock.json'));
  const changelog = read('CHANGELOG.md');
  const [, newest, date] = /^## \[(\d[^\]]*)\](?: - (.*))?$/m.exec(changelog) ?? [];
  const [, unreleased = ''] = /^## \[Unreleased\]\n([\s\S]*?)(?=^## \[|(?![\s\S]))/m.exec(changelog) ?? [];
  /** @type {readonly (readonly [place: string, found: string | undefined])[]} */
  const places = [
    ['package-lock.json', lock.version],
    ['packages[""] of package-lock.json', lock.packages[''].version],
    ['the newest version of CHANGELOG.md', newest],
    ['version of deploy/helm/junctor/Chart.yaml', /^version: (.*)$/m.exec(read('deploy/helm/junctor/Chart.yaml'))?.[1]],
    ['appVersion of Chart.yaml', /^appVersion: (.*)$/m.exec(read('deploy/helm/junctor/Chart.yaml'))?.[1]],
    ['image of values.yaml', /^image: .*:(.*)$/m.exec(read('deploy/helm/junctor/values.yaml'))?.[1]],
    [
      'newTag of deploy/kubernetes/overlays/example',
      /^ +newTag: (.*)$/m.exec(read('deploy/kubernetes/overlays/example/kustomization.yaml'))?.[1],
    ],
  ];
  const faults = places
    .filter(([, found]) => found !== version)
    .map(([place, found]) => `${place} is ${found ?? 'missing'}, but package.json has ${version}`);
  if (!/^\d{4}-\d\d-\d\d$/.test(date ?? '')) faults.push(`CHANGELOG.md: [${newest}] has no date`);
  if (isDry) return faults;
  if (unreleased.trim() !== '') faults.push('CHANGELOG.md: [Unreleased] is not empty');
  const tags = output(root, 'git', 'tag', '--points-at', 'HEAD').split('\n');
  if (!tags.includes(`v${version}`)) faults.push(`HEAD has no tag v${version}`);
  return faults;
};

/** @param {string} cwd @param {string} program @param {readonly string[]} args */
const output = (cwd, program, ...args) =>
  execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();

/** @param {string} cwd @param {readonly string[]} args */
const npm = (cwd, ...args) => output(cwd, 'npm', '--silent', ...args);

/**
 * Builds the image with the base's digest of today, and saves it. Returns the base; `undefined` without an engine.
 * @param {string} root
 * @param {string} version
 * @param {string} file
 */
export const saveImage = (root, version, file) => {
  const engine = ['docker', 'podman'].find((name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0);
  if (engine === undefined) return undefined;
  const tag = /^ARG BASE=(.*)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1] ?? '';
  output(root, engine, 'pull', tag);
  const base = output(root, engine, 'image', 'inspect', '--format', '{{index .RepoDigests 0}}', tag);
  output(root, engine, 'build', '--build-arg', `BASE=${base}`, '--tag', `junctor:${version}`, '.');
  output(root, engine, 'save', '--output', file, `junctor:${version}`);
  return base;
};

/**
 * @param {string} root
 * @param {string} folder
 * @param {boolean} isDry
 */
const release = (root, folder, isDry) => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  npm(root, 'run', 'package');
  npm(root, 'pack', './package', '--pack-destination', folder);
  const components = JSON.stringify(componentsOf(root), undefined, 2);
  writeFileSync(join(folder, `junctor-${version}.cdx.json`), `${components}\n`);
  const base = isDry ? undefined : saveImage(root, version, join(folder, `junctor-${version}.image.tar`));
  const made = {
    version,
    commit: output(root, 'git', 'rev-parse', 'HEAD'),
    node: process.version,
    npm: npm(root, '--version'),
    ...(base !== undefined && { base }),
  };
  writeFileSync(join(folder, 'release.json'), `${JSON.stringify(made, undefined, 2)}\n`);
  const sums = readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    );
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  process.stdout.write(`${sums.join('')}${base === undefined ? 'no image: no container engine, or a dry run\n' : ''}`);
};

/** @param {readonly string[]} args */
const main = ([target, option]) => {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const isDry = option === '--dry-run';
  if (target === undefined || (option !== undefined && !isDry))
    return fail('node deploy/release.js FOLDER [--dry-run]');
  const folder = resolve(target);
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) return fail(`${folder} is not empty`);
  const faults = faultsOf(root, isDry);
  if (faults.length > 0) return fail(faults.join('\n'));
  if (isDry) return release(root, folder, isDry);
  const work = mkdtempSync(join(tmpdir(), 'junctor-release-'));
  try {
    const clone = join(work, 'junctor');
    output(root, 'git', 'clone', '--quiet', '.', clone);
    npm(clone, 'ci', '--no-audit', '--no-fund');
    release(clone, folder, isDry);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

/** @param {string} text */
const fail = (text) => {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
