import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { groupTests } from './groups.js';
import { failedFiles, readReport } from './report.ts';
import { tiers } from './tiers.js';

/*
 * Prints the paths of the test files that failed in the run whose output is the file named first. Prints none when a failure can't be
 * told from its file, since then no run of a few files proves anything.
 */

const [, , report = ''] = process.argv;
const root = process.cwd();
const files = execFileSync('git', ['ls-files', 'test/**/*.test.ts'], { encoding: 'utf8' }).trim().split('\n');
const groups = tiers.flatMap((tier) => [...groupTests(root, files, tier)].filter(([name]) => !files.includes(name)));
console.log(failedFiles(readReport(readFileSync(report, 'utf8')).failures, files, groups)?.join('\n') ?? '');
