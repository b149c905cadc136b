import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import {
  type Installation,
  launchdPlist,
  secretsFile,
  systemdUnit,
  windowsCommands,
} from '../../../engine/cli/system/service-file.ts';

const execute = promisify(execFile);

/** Paths that every format has to escape differently. */
const strange = '/opt/a b"c\'d%h$HOME\\e&<f>é';

const installation: Installation = {
  node: `${strange}/node`,
  args: [`${strange}/junctor.js`, 'start'],
  env: { JUNCTOR_HOME: strange },
  home: strange,
  stopSeconds: 50,
};

const lineOf = (text: string, name: string): string | undefined =>
  text.split('\n').find((line) => line.startsWith(`${name}=`));

test('a systemd unit has quoted paths, in which a percent sign or a dollar sign stands for itself', (t) => {
  const unit = systemdUnit(installation);
  const path = `/opt/a b\\"c'd%%h$HOME\\\\e&<f>é`;
  const argument = path.replace('$', '$$$$');
  const shell = '"/bin/sh" "-c" "exec \\"$$0\\" \\"$$@\\""';
  t.is(lineOf(unit, 'ExecStart'), `ExecStart=${shell} "${argument}/node" "${argument}/junctor.js" "start"`);
  const plain = systemdUnit({ ...installation, node: '/opt/a b/%h$HOME/node', args: [] });
  t.is(lineOf(plain, 'ExecStart'), 'ExecStart="/opt/a b/%%h$HOME/node"');
  t.is(lineOf(unit, 'Environment'), `Environment="JUNCTOR_HOME=${path}"`);
  // This setting knows no quotes.
  t.is(lineOf(unit, 'EnvironmentFile'), `EnvironmentFile=-${strange.replace('%', '%%')}/service.env`);
  t.is(lineOf(unit, 'TimeoutStopSec'), 'TimeoutStopSec=50');
  t.is(lineOf(unit, 'Restart'), 'Restart=on-failure');
  t.is(lineOf(systemdUnit({ ...installation, env: {} }), 'Environment'), undefined);
});

/** A folder of this name that holds Node.js under its name. */
const folderWithNode = async (t: ExecutionContext, name: string): Promise<string> => {
  const root = await mkdtemp(join(tmpdir(), 'junctor-unit-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, name);
  await mkdir(folder, { recursive: true });
  await symlink(process.execPath, join(folder, 'node'));
  return folder;
};

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

(hasSystemd ? test : test.skip)('systemd accepts the unit, and finds the program', async (t) => {
  const verify = async (folder: string, node: string): Promise<string> => {
    const file = join(folder, 'junctor.service');
    await writeFile(file, systemdUnit({ ...installation, node: join(folder, node) }));
    return execute('systemd-analyze', ['verify', file]).then(
      ({ stdout, stderr }) => stdout + stderr,
      ({ stderr }) => String(stderr),
    );
  };
  const plain = await folderWithNode(t, 'a b%h$HOME&<f>é');
  t.notRegex(await verify(plain, 'node'), /junctor\.service/);
  t.regex(await verify(plain, 'none'), /junctor\.service: Command .+none is not executable/);
  t.notRegex(await verify(await folderWithNode(t, strange), 'node'), /junctor\.service/);
});

/** The strings of a property list. */
const stringsOf = (plist: string): readonly string[] =>
  [...plist.matchAll(/<string>([^<]*)<\/string>/g)].map(([, text = '']) =>
    text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  );

test('a launchd agent runs the command with the secrets of the folder, if there are any', async (t) => {
  const folder = await folderWithNode(t, strange);
  const shown = 'console.log(process.env.SECRET)';
  const own = { ...installation, node: join(folder, 'node'), args: ['-e', shown], home: folder };
  const plist = launchdPlist(own);
  t.regex(plist, /<key>ExitTimeOut<\/key>\n {2}<integer>50<\/integer>/);
  const strings = stringsOf(plist);
  t.true(strings.includes(strange), 'the variable of the folder');
  const [program = '', ...args] = strings.slice(strings.indexOf('/bin/sh'), strings.indexOf(shown) + 1);
  t.is((await execute(program, args, { env: {} })).stdout, 'undefined\n');
  await writeFile(secretsFile(own), "SECRET='a $b'\n");
  t.is((await execute(program, args, { env: {} })).stdout, 'a $b\n');
});

test('PowerShell commands have quoted paths', (t) => {
  const node = "C:\\Program Files\\o'node\\node.exe";
  const commands = windowsCommands({
    ...installation,
    node,
    args: ['C:\\a b\\junctor.js', 'start'],
    env: { A: "b'c" },
  });
  t.true(commands.includes("-Execute 'C:\\Program Files\\o''node\\node.exe'"));
  t.true(commands.includes(`-Argument '"C:\\a b\\junctor.js" start'`));
  t.true(commands.startsWith("[Environment]::SetEnvironmentVariable('A', 'b''c', 'User')\n"));
});
