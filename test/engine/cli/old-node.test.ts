import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { parse } from 'acorn';
import test from 'ava';

const root = resolve(import.meta.dirname, '../../..');
const launcher = readFileSync(resolve(root, 'engine/cli/junctor.js'), 'utf8');

/** What the launcher says and does in a process of this version. */
const launched = async (
  node: string,
): Promise<{ readonly said: string; readonly code: number | undefined; loaded: boolean }> => {
  const result = { said: '', code: undefined as number | undefined, loaded: false };
  class Exit extends Error {}
  const process = {
    versions: { node },
    execPath: '/opt/node/bin/node',
    cwd: () => '/',
    stderr: { write: (text: string) => (result.said += text) },
    exit(code: number) {
      result.code = code;
      throw new Exit();
    },
  };
  const load = async () => {
    result.loaded = true;
    return { load: () => undefined };
  };
  try {
    // A script of this context may not import.
    runInNewContext(launcher.replace(/^import\(/m, 'load('), { process, load });
    await new Promise(setImmediate);
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
  }
  return result;
};

test('the launcher is read by every Node.js that has import()', (t) => {
  for (const sourceType of ['module', 'script'] as const)
    t.notThrows(() => parse(launcher, { ecmaVersion: 2020, sourceType, allowHashBang: true }));
  t.notRegex(launcher, /^import [^(]/m, 'nothing is loaded before the check');
});

test('an unsupported Node.js gets three lines: which versions, how to get one', async (t) => {
  const { engines } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));
  t.is(engines.node, '^20.19 || ^22.12 || >=24', 'what the launcher checks');
  for (const node of ['14.21.3', '16.20.2', '18.20.4', '19.9.0', '20.18.3', '21.7.3', '22.11.0', '23.11.1']) {
    const { said, code, loaded } = await launched(node);
    t.deepEqual({ code, loaded }, { code: 1, loaded: false }, node);
    const lines = said.trimEnd().split('\n');
    t.is(lines.length, 3);
    t.true(
      lines[0]?.includes(
        `20.19 or a later 20, 22.12 or a later 22, or 24 and above; this is ${node} (/opt/node/bin/node)`,
      ),
    );
    t.regex(lines[1] ?? '', /nodejs\.org.*nvm install 22/);
  }
  for (const node of ['20.19.0', '20.20.2', '22.12.0', '22.21.1', '24.0.0', '25.1.0', '26.0.0-nightly'])
    t.like(await launched(node), { said: '', code: undefined, loaded: true }, node);
});
