import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from '../../engine/start.ts';

/** A gateway of a test's own, on a free port, with a folder of its own. */
export interface TestGateway {
  readonly baseUrl: string;
  readonly home: string;
  /** Lines told to the person who started it. */
  readonly reports: readonly string[];
  readonly stop: () => Promise<void>;
}

/** Starts a gateway with this `config.json`; without one, as on a first start. */
export const startGateway = async (
  written?: object,
  env: Readonly<Record<string, string>> = {},
): Promise<TestGateway> => {
  const home = await mkdtemp(join(tmpdir(), 'switchyard-'));
  if (written) await writeFile(join(home, 'config.json'), JSON.stringify(written));
  const reports: string[] = [];
  const service = await start({ env, home, port: 0, report: (line) => reports.push(line) });
  return {
    baseUrl: service.baseUrl,
    home,
    reports,
    async stop() {
      await service.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
};
