import { runProgram } from '../../engine/bench/targets/run-program.ts';
import type { Target } from '../../engine/bench/targets/target.ts';

export const target: Target = {
  name: 'my-gateway',
  async start({ upstreamUrl, upstream, env }) {
    const program = runProgram('my-gateway', ['--upstream', upstreamUrl, '--format', upstream], env);
    await program.says(/listening/);
    return { pid: program.pid, baseUrl: 'http://127.0.0.1:8088', stop: program.stop };
  },
};
