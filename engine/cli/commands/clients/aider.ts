import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Variables } from '../../../client-tools/tool.ts';
import type { Launcher } from './launcher.ts';

/** aider: `.env` files win over the environment. */
export const aiderLauncher: Launcher = {
  async overruling({ env, cwd }) {
    const files = [join(env.HOME || homedir(), '.env'), join(cwd, '.env')];
    const read = files.map(async (file) => ({ file, always: true, variables: await readDotEnv(file) }));
    return (await Promise.all(read)).filter(({ variables }) => Object.keys(variables).length > 0);
  },
};

const readDotEnv = async (file: string): Promise<Variables> => {
  const text = await readFile(file, 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.trim());
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [name = '', ...value] = (line.startsWith('export ') ? line.slice('export '.length) : line).split('=');
      return name.trim().startsWith('AIDER_OPENAI_API_')
        ? [[name.trim(), unquoted(value.join('=').trim())] as const]
        : [];
    }),
  );
};

const unquoted = (text: string): string => {
  const [first] = text;
  return (first === '"' || first === "'") && text.length > 1 && text.endsWith(first) ? text.slice(1, -1) : text;
};
