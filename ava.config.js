export default {
  extensions: { ts: 'module' },
  files: ['test/**/*.test.ts'],
  nodeArguments: ['--import=tsx'],
  // On Node 20 a loader given by `--import` isn't seen by worker threads, so tests run in processes.
  workerThreads: false,
  timeout: '2m',
};
