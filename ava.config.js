import { compileTests } from './test/runner/compile.js';
import { endHung } from './test/runner/end-hung.js';

endHung();

const compiled = process.env.COMPILED_TESTS ?? (await compileTests(process.argv.slice(2)));

export default {
  // The compiled form is loaded in a test file's place, which the runner allows for what it takes for CommonJS.
  extensions: { ts: 'commonjs' },
  require: [['./test/runner/load-compiled.cjs', compiled]],
  files: ['test/**/*.test.ts'],
  // Tests set environment variables and send signals, so each file has a process.
  workerThreads: false,
  timeout: '2m',
};
