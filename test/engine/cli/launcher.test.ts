import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { bin } from '../../support/processes/command.ts';

const root = resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);

const temporaryFolder = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-launcher-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

test('the launcher is executable and works through a link and from any folder', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'tsconfig.json'), '{ not JSON at all');
  await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }');
  const link = join(folder, 'junctor');
  await symlink(bin, link);
  const env = { PATH: process.env.PATH ?? '', JUNCTOR_HOME: join(folder, 'home') };
  t.is((await run(link, ['--version'], { cwd: folder, env })).stdout, `${version}\n`);
  t.regex((await run(link, ['config', 'check'], { cwd: folder, env })).stdout, /config\.json does not exist/);
});

test('a usage error is reported in one line', async (t) => {
  const folder = await temporaryFolder(t);
  const env = { PATH: process.env.PATH ?? '', JUNCTOR_HOME: folder };
  for (const [args, says] of [
    [['strat'], /^error: unknown command 'strat'/],
    [['stop', '--now'], /^error: unknown option '--now'/],
    [['env'], /^error: required option '--for <program>' not specified/],
    [['run'], /^error: missing required argument 'command'/],
  ] as const) {
    const error = await t.throwsAsync<Error & { stderr: string; code: number }>(run(bin, [...args], { env }));
    t.is(error?.code, 1);
    t.regex(error?.stderr ?? '', says);
    t.notRegex(error?.stderr ?? '', /\n {4}at /);
  }
});

test('a command from a folder that was deleted says so in one line', async (t) => {
  const gone = await mkdtemp(join(tmpdir(), 'junctor-gone-'));
  const script = `cd '${gone}' && rmdir '${gone}' && exec '${process.execPath}' '${bin}' --version`;
  const error = await t.throwsAsync<Error & { stderr: string; code: number }>(run('/bin/sh', ['-c', script]));
  t.is(error?.code, 1);
  t.is(error?.stderr, "The current folder doesn't exist any more: change to another one, and run the command again.\n");
});
