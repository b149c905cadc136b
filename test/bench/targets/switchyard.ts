import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { askedModel, type Wire } from '../wire.ts';
import { runProgram } from './run-program.ts';
import type { Target } from './target.ts';

const launcher = fileURLToPath(new URL('../../../engine/cli/switchyard.js', import.meta.url));

const formats: Readonly<Record<Wire, object>> = {
  chat: { name: 'openai' },
  responses: { name: 'openai', options: { api: 'responses' } },
  messages: { name: 'anthropic' },
  gemini: { name: 'gemini' },
};

/** Switchyard as its users run it: the command, a folder of its own, logging on, one route and every scenario configured. */
export const target: Target = {
  name: 'switchyard',
  async start({ upstreamUrl, upstream, workers, env }) {
    const home = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
    const config = {
      PORT: 0,
      WORKERS: workers,
      Providers: [
        {
          name: 'yard',
          baseUrl: upstreamUrl,
          apiKey: 'bench',
          models: [askedModel, 'bench-long', 'bench-small', 'bench-deep', 'bench-eye', 'bench-web'],
        },
      ],
      Router: {
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
      transformers: [{ ...formats[upstream], provider: 'yard' }],
    };
    await writeFile(join(home, 'config.json'), JSON.stringify(config));
    const program = runProgram(process.execPath, [launcher, 'start'], { HOME: home, SWITCHYARD_HOME: home, ...env });
    const stop = async (): Promise<void> => {
      await program.stop();
      await rm(home, { recursive: true, force: true });
    };
    try {
      return { pid: program.pid, baseUrl: await program.says(/http:\/\/127\.0\.0\.1:\d+/), stop };
    } catch (error) {
      await stop();
      throw error;
    }
  },
};
