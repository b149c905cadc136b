import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { root } from '../../paths.ts';
import { askedModel, type Wire } from '../wire.ts';
import { runProgram } from './run-program.ts';
import type { Additions, RunningTarget, Target } from './target.ts';

/** The entry that gives a provider this format. */
export const formatEntries: Readonly<Record<Wire, { readonly name: string; readonly options?: object }>> = {
  chat: { name: 'openai' },
  responses: { name: 'openai', options: { api: 'responses' } },
  messages: { name: 'anthropic' },
  gemini: { name: 'gemini' },
};

/** The command of the checkout, or of the package, in this folder. */
export const commandIn = (checkout: string): string => join(checkout, 'engine/cli/junctor.js');

/** A start makes the bundle and the web interface when they are missing, beside what is to be measured: so once before all. */
const prepare = async (checkout: string): Promise<readonly string[]> => {
  const run = promisify(execFile);
  const ui = join(checkout, 'ui/build.js');
  if (existsSync(ui)) await run(process.execPath, [ui, '--optional']);
  await run(process.execPath, [commandIn(checkout), '--version']);
  return [commandIn(checkout), 'start'];
};

/** Folders of gateways that run; an interrupted run removes them as it exits. */
const homes = new Set<string>();
process.once('exit', () => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

/** Junctor as its users run it: the command, a folder of its own, logging on, one route and every scenario configured. */
export const junctorIn = (checkout: string, name: string, additions: Additions = {}): Target => {
  let prepared: Promise<readonly string[]> | undefined;
  const command = (): Promise<readonly string[]> => {
    prepared ??= prepare(checkout);
    return prepared;
  };
  return { ...junctorWith(name, command, additions), own: { folder: checkout, additions } };
};

/** The same with another program; `command` gives what Node.js is to run. It prints its address. */
export const junctorWith = (
  name: string,
  command: () => Promise<readonly string[]>,
  additions: Additions = {},
): Target => ({
  name,
  start: ({ upstreamUrl, upstream, workers, env }) =>
    startJunctor(command, env, additions.folders ?? [], configOf(upstream, upstreamUrl, workers, additions)),
});

/** The configuration of the bench: one provider of this format, a model for each scenario. */
export const configOf = (
  upstream: Wire,
  upstreamUrl: string,
  workers: number,
  { Providers = [], rules, transformers = [], folders: _, ...others }: Additions,
): object => ({
  ...common,
  WORKERS: workers,
  LOG: true,
  Providers: [
    {
      name: 'yard',
      baseUrl: upstreamUrl,
      apiKey: 'bench',
      models: [askedModel, 'bench-long', 'bench-small', 'bench-deep', 'bench-eye', 'bench-web'],
    },
    ...Providers,
  ],
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
  transformers: [{ ...formatEntries[upstream], provider: 'yard' }, ...transformers],
});

/** A free port; one address is all of the clients. */
const common = { PORT: 0, LIMITS: { requestsPerClient: 20_000, connectionsPerClient: 20_000 } };

/** This checkout or package, with a configuration that `configure` makes for the simulated vendors' address. */
export const junctorConfigured = (
  name: string,
  configure: (upstreamUrl: string) => object,
  folders: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Target => {
  let prepared: Promise<readonly string[]> | undefined;
  return {
    name,
    start({ upstreamUrl, env }) {
      prepared ??= prepare(ownFolder);
      const command = prepared;
      return startJunctor(() => command, { ...variables, ...env }, folders, configure(upstreamUrl));
    },
  };
};

/** The checkout, or the package, that runs. */
export const ownFolder = fileURLToPath(root);

/** Starts the service with this configuration in a folder of its own, on a free port. */
const startJunctor = async (
  command: () => Promise<readonly string[]>,
  env: Readonly<Record<string, string>>,
  folders: readonly string[],
  config: object,
): Promise<RunningTarget> => {
  const args = [...(await command()), ...folders.flatMap((folder) => ['--allow-transformer-path', folder])];
  const home = await mkdtemp(join(tmpdir(), 'junctor-bench-'));
  homes.add(home);
  await writeFile(join(home, 'config.json'), JSON.stringify({ ...common, ...config }));
  const program = runProgram(process.execPath, args, {
    HOME: home,
    JUNCTOR_HOME: home,
    JUNCTOR_HTTP: process.env.JUNCTOR_HTTP ?? '',
    // As a script of npm's, it ends with the process that started it, however that ends.
    npm_lifecycle_event: 'bench',
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
};
