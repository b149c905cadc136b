import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Cli } from '../../../engine/cli/cli.ts';
import { installService, printService, uninstallService } from '../../../engine/cli/system/install-service.ts';
import { commandRig } from '../../support/processes/command.ts';

/** A home with service managers that record how they are called. With a file `fails` in it, they fail. */
const serviceRig = async (t: ExecutionContext) => {
  const { home, ask, run, begin } = await commandRig(t, { Providers: [], TIMEOUTS: { drainMs: 60_000 } });
  const bin = join(home, 'bin');
  const calls = join(home, 'calls');
  await mkdir(bin);
  const script = `#!/bin/sh\necho "$(basename "$0") $*" >> '${calls}'\nif [ -f '${home}/fails' ]; then echo 'No medium found' >&2; exit 1; fi\n`;
  for (const name of ['systemctl', 'launchctl']) {
    await writeFile(join(bin, name), script);
    await chmod(join(bin, name), 0o755);
  }
  const env = { PATH: `${bin}:${process.env.PATH}` };
  const said: string[] = [];
  const cli = (PATH = `${bin}:${process.env.PATH}`): Cli => ({
    env: { PATH, HOME: home, JUNCTOR_HOME: home },
    home,
    print: (line) => void said.push(line),
    warn: (line) => void said.push(`warning: ${line}`),
  });
  return {
    home,
    cli,
    start: () => begin(['start']).says('Try it'),
    ask: (...args: readonly string[]) => ask(['service', ...args], { env }),
    run: (...args: readonly string[]) => run(['service', ...args], { env }),
    said: () => said.splice(0).join('\n'),
    called: async () => {
      const text = await readFile(calls, 'utf8').catch(() => '');
      await writeFile(calls, '');
      return text.split('\n').filter((line) => line !== '');
    },
  };
};

test('junctor service: the command installs, replaces and removes a systemd unit of its own', async (t) => {
  if (process.platform !== 'linux') return t.pass('systemd is on Linux alone');
  const { home, ask, run, called } = await serviceRig(t);
  const file = join(home, '.config/systemd/user/junctor.service');
  const printed = await ask('print');
  t.is(printed.code, 0, printed.err);
  t.true(printed.out.includes(`Environment="JUNCTOR_HOME=${home}"\n`));
  t.true(printed.out.includes('TimeoutStopSec=80\n'), 'longer than TIMEOUTS.drainMs');
  t.false(existsSync(file));

  const installed = await run('install');
  t.is(installed.code, 0, installed.err);
  t.regex(installed.out, /service\.env \(mode 600\)[\s\S]*Started the service\. .*loginctl enable-linger/);
  t.is(await readFile(file, 'utf8'), printed.out);
  const enable = ['systemctl --user daemon-reload', 'systemctl --user enable --now junctor.service'];
  const disable = 'systemctl --user disable --now junctor.service';
  t.deepEqual(await called(), enable);

  t.is((await ask('install', '--allow-transformer-path', '/opt/stages')).code, 0);
  t.regex(await readFile(file, 'utf8'), /"start" "--allow-transformer-path" "\/opt\/stages"\n/);
  t.deepEqual(await called(), [disable, ...enable]);
  t.is((await ask('install', '--allow-key-command', '["sh", "-c", "echo $KEY"]')).code, 0);
  t.true(
    (await readFile(file, 'utf8')).includes(
      String.raw`"start" "--allow-key-command" "[\"sh\", \"-c\", \"echo $$KEY\"]"`,
    ),
  );
  t.deepEqual(await called(), [disable, ...enable]);
  t.regex(
    (await ask('install', '--allow-key-command', '["sh"')).err,
    /--allow-key-command \["sh" is no JSON list of texts/,
  );

  const removed = await run('uninstall');
  t.deepEqual(removed, { code: 0, out: `Removed ${file}.\n`, err: '' });
  t.false(existsSync(file));
  t.deepEqual(await called(), [disable, 'systemctl --user daemon-reload']);
  t.regex((await ask('uninstall')).out, /^The service is not installed/);
});

for (const [platform, file, enable, disable] of [
  [
    'linux',
    '.config/systemd/user/junctor.service',
    ['systemctl --user daemon-reload', 'systemctl --user enable --now junctor.service'],
    ['systemctl --user disable --now junctor.service', 'systemctl --user daemon-reload'],
  ],
  [
    'darwin',
    'Library/LaunchAgents/local.junctor.plist',
    [/^launchctl bootstrap gui\/\d+ \S+local\.junctor\.plist$/],
    [/^launchctl bootout gui\/\d+\/local\.junctor$/],
  ],
] as const) {
  test(`${platform}: a foreign file stays, and a failing service manager is told with its command`, async (t) => {
    const { home, cli, said, called } = await serviceRig(t);
    const path = join(home, file);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, '[Service]\nExecStart=/bin/true\n');
    await t.throwsAsync(installService(cli(), { platform }), { message: /was not written by/ });
    await t.throwsAsync(uninstallService(cli(), { platform }), { message: /was not written by/ });
    t.is(await readFile(path, 'utf8'), '[Service]\nExecStart=/bin/true\n');
    t.deepEqual(await called(), []);

    await rm(path);
    await installService(cli(), { platform });
    const lines = await called();
    t.is(lines.length, enable.length);
    for (const [index, line] of lines.entries()) t.regex(line, new RegExp(enable[index] ?? 'none'));
    await printService(cli(), { platform });
    t.true(said().endsWith((await readFile(path, 'utf8')).trimEnd()));

    await writeFile(join(home, 'fails'), '');
    const failed = { message: /^`(?:systemctl|launchctl) .+` failed: No medium found$/ };
    await t.throwsAsync(installService(cli(), { platform }), failed);
    await t.throwsAsync(uninstallService(cli(), { platform }), failed);
    t.true(existsSync(path), 'a service that was not stopped stays installed');
    await called();

    // No service manager on this machine.
    await installService(cli('/nonexistent'), { platform });
    t.regex(said(), /To start it, run:\n {2}(?:systemctl|launchctl) /);
    await rm(join(home, 'fails'));
    await uninstallService(cli(), { platform });
    t.is((await called()).length, disable.length);
    t.false(existsSync(path));
  });
}

test('Windows: the commands are printed, and nothing is said to be installed', async (t) => {
  const { cli, said } = await serviceRig(t);
  await t.throwsAsync(installService(cli(), { platform: 'win32' }), { message: /^Nothing was installed\./ });
  t.regex(said(), /Register-ScheduledTask -TaskName Junctor/);
  await t.throwsAsync(uninstallService(cli(), { platform: 'win32' }), { message: /^Nothing was removed\./ });
  await t.throwsAsync(printService(cli(), { platform: 'freebsd' }), { message: /no service file for freebsd/ });
});

test('the file names the configuration that JUNCTOR_CONFIG names, and no path that would end a line of it', async (t) => {
  const { cli, said } = await serviceRig(t);
  const { env, ...rest } = cli();
  await printService({ ...rest, env: { ...env, JUNCTOR_CONFIG: '/etc/junctor/a b.json' } }, { platform: 'linux' });
  t.true(said().includes('Environment="JUNCTOR_CONFIG=/etc/junctor/a b.json"\n'));
  await t.throwsAsync(
    printService(
      { ...rest, env: { ...env, JUNCTOR_CONFIG: '/etc/a\nExecStartPre=/bin/false' } },
      { platform: 'linux' },
    ),
    { message: /can't hold the path .+: it has a control character/ },
  );
});

test('a service that runs already is not installed beside itself', async (t) => {
  const { home, cli, start } = await serviceRig(t);
  await start();
  await t.throwsAsync(installService(cli(), { platform: 'linux' }), {
    message: /already running on .+ \(process \d+\)/,
  });
  t.false(existsSync(join(home, '.config')));
});

test('the service gets the variables that it needs, on request', async (t) => {
  if (process.platform === 'win32') return t.pass('on Windows, nothing is installed');
  const { home, cli, said } = await serviceRig(t);
  const config = {
    Providers: [{ name: 'a', baseUrl: 'https://a.example', apiKey: '$A_KEY', models: ['m'] }],
    APIKEY: '${GATE} and ${UNSET}',
  };
  await writeFile(join(home, 'config.json'), JSON.stringify(config));
  const secrets = join(home, 'service.env');
  await writeFile(secrets, "# mine\nexport GATE='kept'\nHTTP_PROXY=");
  const shell = cli('');
  const env = {
    ...shell.env,
    A_KEY: 'a secret',
    GATE: 'another',
    OPENAI_API_KEY: 'not used',
    https_proxy: 'http://user:word@proxy:3128',
    HTTP_PROXY: 'http://proxy:3128',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
  };
  const before = await readFile(secrets, 'utf8');
  await installService({ ...shell, env }, {});
  t.regex(said(), /A_KEY, https_proxy, NODE_EXTRA_CA_CERTS are not in .*service\.env.*--with-variables/);
  t.is(await readFile(secrets, 'utf8'), before);
  await installService({ ...shell, env }, { withVariables: true });
  t.regex(said(), /Added A_KEY, https_proxy, NODE_EXTRA_CA_CERTS to /);
  const added = "\nA_KEY='a secret'\nhttps_proxy='http://user:word@proxy:3128'\nNODE_EXTRA_CA_CERTS='/ca.pem'\n";
  t.is(await readFile(secrets, 'utf8'), before + added);
  t.is((await stat(secrets)).mode & 0o777, 0o600);
  await installService({ ...shell, env }, {});
  t.regex(said(), /API keys belong in /);
  const bad = { ...shell, env: { ...env, NO_PROXY: "it's" } };
  await t.throwsAsync(installService(bad, { withVariables: true }), { message: /value of NO_PROXY has a quote/ });
});
