// @ts-check
const { subscribe } = require('node:diagnostics_channel');
const { join, relative } = require('node:path');
const { pathToFileURL } = require('node:url');

const root = join(__dirname, '../..');

/**
 * Has the runner load a test file's compiled form: it awaits what a required module exports.
 * @param {string} folder the compiled form's folder
 */
module.exports = (folder) => {
  endWithTests();
  // Deprecated for modules in general; the runner's way is still open to it.
  require.extensions['.ts'] = (module, file) => {
    const compiled = join(folder, relative(root, file)).replace(/\.ts$/, '.mjs');
    module.exports = import(pathToFileURL(compiled).href);
  };
};

/** Once all tests have ended, so do the process and its children: what a failed test left open must not keep the run alive. */
const endWithTests = () => {
  /** @type {Set<import('node:child_process').ChildProcess>} */
  const children = new Set();
  subscribe('child_process', (message) => {
    const { process: child } = /** @type {{ process: import('node:child_process').ChildProcess }} */ (message);
    children.add(child);
    child.once('exit', () => children.delete(child));
  });
  const endChildren = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.once('exit', endChildren);
  // What the runner sends when tests take too long.
  process.once('SIGTERM', () => {
    endChildren();
    process.kill(process.pid, 'SIGTERM');
  });
  // The runner's own module may only be loaded from a test file's process, after its options have come.
  import('ava').then(({ registerCompletionHandler }) => registerCompletionHandler(() => process.exit()));
};
