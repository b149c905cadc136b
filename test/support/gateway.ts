import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Service, type StartOptions, start } from '../../engine/service/server.ts';
import { storeHere } from './store-here.ts';

/** A gateway for one test, on a free port, with its own folder. */
export interface TestGateway extends Pick<Service, 'baseUrl' | 'routes'> {
  readonly home: string;
  /** Lines printed at startup. */
  readonly reports: readonly string[];
  readonly stop: () => Promise<void>;
}

/** Options besides the configuration. */
export interface GatewayExtras
  extends Pick<
    StartOptions,
    | 'transformerFolders'
    | 'keyCommands'
    | 'keyCommandMs'
    | 'uiFolder'
    | 'vendors'
    | 'features'
    | 'withoutFeatures'
    | 'waits'
    | 'healthNowMs'
    | 'nowMs'
    | 'keepAliveMs'
    | 'after'
    | 'localServerKinds'
    | 'supervision'
    | 'server'
    | 'openStore'
  > {
  /** Further files in its folder, by relative path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Longer than any test lasts. */
const patientWaits = { modelListMs: 600_000, countMs: 600_000, trialMs: 600_000 };

/** Starts a gateway with this `config.json`; without one, as on a first start. */
export const startGateway = async (
  written?: object,
  env: Readonly<Record<string, string>> = {},
  { files = {}, ...more }: GatewayExtras = {},
): Promise<TestGateway> => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-'));
  if (written) await writeFile(join(home, 'config.json'), JSON.stringify(written));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
  const reports: string[] = [];
  const service = await start({
    localServerKinds: [],
    waits: patientWaits,
    // A stop waits for no answer that a test has left unfinished.
    after: (act) => {
      const timer = setImmediate(act);
      return () => clearImmediate(timer);
    },
    openStore: storeHere,
    ...more,
    env,
    home,
    port: 0,
    report: (line) => reports.push(line),
  });
  return {
    baseUrl: service.baseUrl,
    routes: service.routes,
    home,
    reports,
    async stop() {
      await service.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
};
