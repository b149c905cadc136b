import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Client, routedName, type Variables } from './client.ts';

/**
 * aider. Source: its documentation, "Options reference", "Configuration with .env": its own variables win over `.aider.conf.yml`
 * and over `OPENAI_API_BASE`, but those of `.env` files win over the environment. Not tried.
 */
export const aider: Client = {
  name: 'aider',
  about: 'aider',
  commands: ['aider'],
  variables: ({ baseUrl, apiKey }) => ({
    AIDER_OPENAI_API_BASE: `${baseUrl}/v1`,
    AIDER_OPENAI_API_KEY: apiKey,
    // The part before the slash selects the protocol; it isn't sent.
    AIDER_MODEL: `openai/${routedName}`,
    AIDER_TIMEOUT: '600',
  }),
  preferred: ['AIDER_MODEL', 'AIDER_TIMEOUT'],
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
