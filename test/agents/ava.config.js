/** The real agents against the gateway. They need the programs of this folder's own package, so no usual run has them. */
export default {
  files: ['test/agents/*.agents.ts'],
  extensions: { ts: 'module' },
  nodeArguments: ['--import=tsx'],
  workerThreads: false,
  // Each file has two agents at work.
  concurrency: 1,
  timeout: '10m',
};
