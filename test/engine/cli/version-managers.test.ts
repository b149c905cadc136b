import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { printService } from '../../../engine/cli/system/install-service.ts';
import { versionManagerOf } from '../../../engine/cli/system/version-managers.ts';

test('the folder of one version is known for each version manager', (t) => {
  for (const [path, manager] of [
    ['/home/me/.nvm/versions/node/v22.12.0/bin/node', 'nvm'],
    ['C:\\Users\\me\\AppData\\Roaming\\nvm\\v22.12.0\\node.exe', 'nvm'],
    ['/home/me/.local/share/fnm/node-versions/v24.1.0/installation/bin/node', 'fnm'],
    ['/run/user/1000/fnm_multishells/12_34/bin/node', 'fnm'],
    ['/home/me/.local/share/mise/installs/node/24.1.0/bin/node', 'mise'],
    ['/home/me/.asdf/installs/nodejs/22.12.0/bin/node', 'asdf'],
    ['/home/me/.volta/tools/image/node/22.12.0/bin/node', 'volta'],
    ['/home/me/.nodenv/versions/22.12.0/bin/node', 'nodenv'],
    ['/usr/local/n/versions/node/22.12.0/bin/node', 'n'],
    ['/opt/homebrew/Cellar/node@22/22.12.0/bin/node', 'Homebrew'],
    ['/usr/bin/node', undefined],
    ['/usr/local/bin/node', undefined],
    ['/opt/homebrew/opt/node@22/bin/node', undefined],
    ['C:\\Program Files\\nodejs\\node.exe', undefined],
  ] as const)
    t.is(versionManagerOf(path), manager, path);
});

test('a printed service file says which version of Node.js it pins, and which variables of the shell it lacks', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-print-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const printed = async (node: string, env: Readonly<Record<string, string>>, platform: NodeJS.Platform) => {
    const warned: string[] = [];
    let out = '';
    const print = (line: string) => (out += `${line}\n`);
    const warn = (line: string) => void warned.push(line);
    await printService({ env: { HOME: home, JUNCTOR_HOME: home, ...env }, home, print, warn }, { platform, node });
    return { warned: warned.join('\n'), out };
  };
  const node = '/home/me/.nvm/versions/node/v22.12.0/bin/node';
  const network = { HTTPS_PROXY: 'http://p:1', NODE_EXTRA_CA_CERTS: '/ca.pem' };
  for (const platform of ['linux', 'darwin', 'win32'] as const) {
    const { warned, out } = await printed(node, network, platform);
    t.regex(warned, /The service runs \S+v22\.12\.0\/bin\/node, which nvm keeps for one version of Node\.js: install/);
    t.regex(warned, /HTTPS_PROXY, NODE_EXTRA_CA_CERTS are not in \S+service\.env \(mode 600\)/);
    t.false(out.includes('which nvm keeps'), 'the file is printed alone');
    t.is((await printed('/usr/bin/node', {}, platform)).warned, '');
  }
});
