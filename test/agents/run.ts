import { spawn } from 'node:child_process';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/*
 * Installs the coding agents if need be, and runs them against the gateway: `npm run test:agents`. Further words are the test
 * runner's own.
 *
 *   --newest  takes the newest versions that can be installed in place of the locked ones
 *   --brief   runs a few tests, for a few minutes at most, and none, with a word, where the agents can't be installed
 */

const root = resolve(import.meta.dirname, '../..');
const own = import.meta.dirname;
/** The newest versions have a folder of their own, so that the locked ones stay. */
const newestFolder = join(root, 'node_modules/.cache/junctor-newest-agents');

/** How long the installation may take: they are two gigabytes together on the disk. */
const installMs = 600_000;
/** How long a program may take to say its version. */
const versionMs = 30_000;
/** How long the brief tests may take. */
const briefMs = 300_000;

interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a command to its end; one that takes too long ends with its processes. */
const run = (
  command: string,
  args: readonly string[],
  more: { cwd: string; limitMs?: number; quiet?: boolean; env?: NodeJS.ProcessEnv },
) =>
  new Promise<Outcome>((done) => {
    const { cwd, limitMs, quiet = true, env = process.env } = more;
    const child = spawn(command, args, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
    });
    let output = '';
    const add = (data: Buffer): void => {
      output += data;
    };
    child.stdout?.on('data', add);
    child.stderr?.on('data', add);
    const kill = (): void => {
      try {
        if (child.pid) process.kill(-child.pid, 'SIGTERM');
      } catch {
        // It has ended.
      }
    };
    const timer = limitMs === undefined ? undefined : setTimeout(kill, limitMs);
    const forward = (signal: NodeJS.Signals): void => {
      kill();
      process.exitCode = signal === 'SIGINT' ? 130 : 143;
    };
    process.once('SIGINT', forward).once('SIGTERM', forward);
    child.once('error', (error) => done({ code: null, output: error.message }));
    child.once('close', (code) => {
      clearTimeout(timer);
      process.off('SIGINT', forward).off('SIGTERM', forward);
      done({ code, output });
    });
  });

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifestIn = async (folder: string): Promise<Manifest> => {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}');
  return JSON.parse(text);
};

/** Whether all locked versions are there. */
const isInstalled = async (): Promise<boolean> => {
  const { dependencies = {} } = await manifestIn(own);
  const there = Object.entries(dependencies).map(
    async ([name, version]) => (await manifestIn(join(own, 'node_modules', name))).version === version,
  );
  return (await Promise.all(there)).every((same) => same);
};

/** Installs them, unless they are there; the reason why not. */
const install = async (newest: boolean): Promise<string | undefined> => {
  if (!newest && (await isInstalled())) return undefined;
  const folder = newest ? newestFolder : own;
  const quiet = ['--no-audit', '--no-fund'];
  let args = ['ci', ...quiet];
  if (newest) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await cp(join(own, 'package.json'), join(folder, 'package.json'));
    const agents = Object.keys((await manifestIn(own)).dependencies ?? {}).filter((name) => name !== 'node');
    args = ['install', ...quiet, ...agents.map((name) => `${name}@latest`)];
  }
  const { code, output } = await run('npm', args, { cwd: folder, limitMs: installMs });
  return code === 0 ? undefined : `npm ${args[0]}: ${output.trim().split('\n').slice(-5).join('\n')}`;
};

/** Starts each of them once; the reason why one doesn't. */
const tryPrograms = async (commands: string): Promise<string | undefined> => {
  const env = { ...process.env, PATH: `${commands}:${process.env.PATH}` };
  for (const name of ['claude', 'codex', 'opencode', 'copilot', 'qwen']) {
    const { code, output } = await run(join(commands, name), ['--version'], { cwd: root, limitMs: versionMs, env });
    if (code !== 0) return `${name} --version: ${output.trim().slice(-500)}`;
    console.log(`${name}: ${/\d+\.\d+\.\d+/.exec(output)?.[0] ?? output.trim()}`);
  }
  return undefined;
};

const given = process.argv.slice(2);
const [newest, brief] = ['--newest', '--brief'].map((name) => given.includes(name));
const commands = join(newest ? newestFolder : own, 'node_modules/.bin');
const reason = (await install(newest === true)) ?? (await tryPrograms(commands));
if (reason === undefined) {
  const args = ['--config', join(own, 'ava.config.js'), ...given.filter((word) => !/^--(?:newest|brief)$/.test(word))];
  const { code } = await run(process.execPath, [join(root, 'node_modules/ava/entrypoints/cli.mjs'), ...args], {
    cwd: root,
    quiet: false,
    env: { ...process.env, AGENTS_COMMANDS: commands, ...(brief && { AGENTS_BRIEF: '1' }) },
    ...(brief && { limitMs: briefMs }),
  });
  process.exitCode ??= code ?? 1;
} else {
  console.log(`The tests with the coding agents are left out: the programs can't be installed here.\n${reason}`);
  process.exitCode = brief ? 0 : 1;
}
