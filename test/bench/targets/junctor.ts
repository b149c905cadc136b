import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { askedModel, type Wire } from '../wire.ts';
import { runProgram } from './run-program.ts';
import type { Target } from './target.ts';

const formats: Readonly<Record<Wire, object>> = {
  chat: { name: 'openai' },
  responses: { name: 'openai', options: { api: 'responses' } },
  messages: { name: 'anthropic' },
  gemini: { name: 'gemini' },
};

/** The command of the checkout in this folder. */
export const commandIn = (checkout: string): string => join(checkout, 'engine/cli/junctor.js');

/** A start makes the bundle and the web interface when they are missing, beside what is to be measured: so once before all. */
const prepare = async (checkout: string): Promise<readonly string[]> => {
  const run = promisify(execFile);
  await run(process.execPath, [join(checkout, 'ui/build.js'), '--optional']);
  await run(process.execPath, [commandIn(checkout), '--version']);
  return [commandIn(checkout), 'start'];
};

/** Folders of gateways that run; an interrupted run removes them as it exits. */
const homes = new Set<string>();
process.once('exit', () => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

/** What is configured besides. */
export interface Additions {
  readonly LOG?: boolean;
  readonly HISTORY?: object;
  readonly Providers?: readonly object[];
  readonly Pools?: readonly object[];
  readonly FLEET?: object;
  readonly rules?: readonly object[];
  readonly transformers?: readonly object[];
}

/** Junctor as its users run it: the command, a folder of its own, logging on, one route and every scenario configured. */
export const junctorIn = (checkout: string, name: string, additions?: Additions): Target => {
  let prepared: Promise<readonly string[]> | undefined;
  const command = (): Promise<readonly string[]> => {
    prepared ??= prepare(checkout);
    return prepared;
  };
  return junctorWith(name, command, additions);
};

/** The same with another program; `command` gives what Node.js is to run. It prints its address. */
export const junctorWith = (
  name: string,
  command: () => Promise<readonly string[]>,
  additions: Additions = {},
): Target => {
  const { Providers = [], rules, transformers = [], ...others } = additions;
  return {
    name,
    async start({ upstreamUrl, upstream, workers, env }) {
      const args = await command();
      const home = await mkdtemp(join(tmpdir(), 'junctor-bench-'));
      homes.add(home);
      const config = {
        PORT: 0,
        LOG: true,
        WORKERS: workers,
        Providers: [
          {
            name: 'yard',
            baseUrl: upstreamUrl,
            apiKey: 'bench',
            models: [askedModel, 'bench-long', 'bench-small', 'bench-deep', 'bench-eye', 'bench-web'],
          },
          ...Providers,
        ],
        // One address is all of the clients.
        LIMITS: { requestsPerClient: 20_000, connectionsPerClient: 20_000 },
        ...others,
        Router: {
          ...(rules && { rules }),
          default: `yard,${askedModel}`,
          longContextThreshold: 60_000,
          routes: {
            longContext: 'yard,bench-long',
            image: 'yard,bench-eye',
            webSearch: 'yard,bench-web',
            background: 'yard,bench-small',
            think: 'yard,bench-deep',
          },
        },
        transformers: [{ ...formats[upstream], provider: 'yard' }, ...transformers],
      };
      await writeFile(join(home, 'config.json'), JSON.stringify(config));
      const program = runProgram(process.execPath, args, {
        HOME: home,
        JUNCTOR_HOME: home,
        JUNCTOR_HTTP: process.env.JUNCTOR_HTTP ?? '',
        ...env,
      });
      const stop = async (): Promise<void> => {
        await program.stop();
        await rm(home, { recursive: true, force: true });
        homes.delete(home);
      };
      try {
        return { pid: program.pid, baseUrl: await program.says(/http:\/\/127\.0\.0\.1:\d+/), stop };
      } catch (error) {
        await stop();
        throw error;
      }
    },
  };
};
