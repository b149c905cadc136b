import { fileURLToPath } from 'node:url';
import { runProgram } from './run-program.ts';
import type { Target } from './target.ts';

const program = fileURLToPath(new URL('../floors/bare.js', import.meta.url));

/** The bare stack as a program of its own: the floor for cold start and idle memory. It converts nothing. */
export const bare: Target = {
  name: 'bare',
  async start({ upstreamUrl, env }) {
    const { pid, says, stop } = runProgram(process.execPath, [program, upstreamUrl], env);
    return { pid, baseUrl: await says(/http:\/\/127\.0\.0\.1:\d+/), stop };
  },
};
