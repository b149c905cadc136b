// @ts-check
import { availableParallelism } from 'node:os';
import { compileTests, testFiles } from './compile.js';
import { endHung, reportArguments } from './end-hung.js';

/** These wait most of their time, for browsers, other processes and time windows. */
const waiting = /\/test\/(?:__tests__\/)*(?:ui|reliability|engine\/(?:features\/clients|hub|service)|security)[./]/;

/**
 * Settings of V8 for processes that live for seconds and share their cores: no threads beside the main one optimize or collect, and
 * code is optimized later. Test processes take about a tenth less processor time.
 */
const shortLived = [
  '--single-threaded',
  // Later versions of V8 don't have these settings, and optimize at a lower cost.
  ...(process.versions.node.startsWith('20.')
    ? ['--interrupt-budget=300000', '--interrupt-budget-factor-for-feedback-allocation=32']
    : []),
];

/**
 * The runner's configuration for a tier: a run that names no files has those of the tier.
 * @param {import('./tiers.js').Tier} tier
 */
export const configOf = async (tier) => {
  const reports = `node_modules/.cache/junctor-hung-tests-${tier}`;
  endHung(reports);
  const given = process.env.COMPILED_TESTS;
  const { folder, files } = given
    ? { folder: given, files: testFiles() }
    : await compileTests(process.argv.slice(2), tier);
  return {
    // The compiled form is loaded in a test file's place, which the runner allows for what it takes for CommonJS.
    extensions: { ts: 'commonjs' },
    require: [['./test/runner/load-compiled.cjs', folder]],
    files,
    // Tests set environment variables and send signals, so each file or group has a process.
    workerThreads: false,
    nodeArguments: [...reportArguments(reports), ...shortLived],
    // Files wait nearly half of their time: two per core keep the cores busy. Those that wait most come first, so that none is left
    // to run alone at the end.
    concurrency: 2 * availableParallelism(),
    /** @param {string} one @param {string} other */
    sortTestFiles: (one, other) => Number(waiting.test(other)) - Number(waiting.test(one)) || (one < other ? -1 : 1),
    timeout: '2m',
  };
};
