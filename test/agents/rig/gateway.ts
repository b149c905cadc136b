import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Party, parties, slugOf } from './parties.ts';
import { runProgram } from './program.ts';
import { keyOf } from './world.ts';

/** A gateway as users run it: a process of its own, whose upstreams are reached through this proxy. */
export interface AgentGateway {
  /** The address that routes every model to this party. */
  readonly urlFor: (party: Party) => string;
  readonly stop: () => Promise<void>;
}

const launcher = resolve(import.meta.dirname, '../../../engine/cli/junctor.js');

/** How long it may take until it listens, and how long it may run at all, in milliseconds. */
const limitMs = 3_600_000;

export const startGateway = async (proxyUrl: string): Promise<AgentGateway> => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-agents-'));
  const config = {
    PORT: 0,
    LOG: false,
    // What a vendor refuses is to be seen as it is, and at once; a broken stream is the agent's to repeat.
    RETRY: { attempts: 0 },
    BREAKER: { faults: 1_000 },
    Providers: parties.map((party) => ({
      name: slugOf(party),
      baseUrl: party.baseUrl,
      apiKey: keyOf(party),
      models: [party.model],
    })),
    transformers: parties.flatMap((party) => (party.options ? [{ ...party.options, provider: slugOf(party) }] : [])),
  };
  await writeFile(join(home, 'config.json'), JSON.stringify(config));
  for (const party of parties) {
    const folder = join(home, 'presets', slugOf(party));
    await mkdir(folder, { recursive: true });
    const manifest = { Router: { default: `${slugOf(party)},${party.model}` } };
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  }
  const { PATH = '', JUNCTOR_HTTP = '' } = process.env;
  const service = runProgram(process.execPath, [launcher, 'start'], {
    cwd: home,
    env: { PATH, JUNCTOR_HTTP, HOME: home, JUNCTOR_HOME: home, HTTP_PROXY: proxyUrl },
    limitMs,
  });
  const stop = async (): Promise<void> => {
    await service.stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    const [baseUrl] = await service.says(/http:\/\/127\.0\.0\.1:\d+/);
    return { urlFor: (party) => `${baseUrl}/preset/${slugOf(party)}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
