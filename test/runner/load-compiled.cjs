// @ts-check
const { subscribe } = require('node:diagnostics_channel');
const { readFileSync } = require('node:fs');
const { SourceMap } = require('node:module');
const { join, relative } = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');

const root = join(__dirname, '../..');

/**
 * Has the runner load a test file's compiled form: it awaits what a required module exports.
 * @param {string} folder the compiled form's folder
 */
module.exports = (folder) => {
  endWithTests();
  mapStacks(pathToFileURL(`${folder}/`).href);
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

/**
 * Has stacks name the sources. Node.js does so too, but reads every module's map when the module is loaded, which takes longer than
 * most files' tests.
 * @param {string} compiled the URL of the compiled form's folder
 */
const mapStacks = (compiled) => {
  process.setSourceMapsEnabled(false);
  /** @type {Map<string, SourceMap>} */
  const maps = new Map();
  /** @param {string} url */
  const mapOf = (url) => {
    const map = maps.get(url) ?? new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8')));
    maps.set(url, map);
    return map;
  };
  /** @type {Map<string, string>} */
  const places = new Map();
  /** @param {string} url @param {number} line @param {number} column */
  const placeInSource = (url, line, column) => {
    const entry = mapOf(url).findEntry(line - 1, column - 1);
    if (!('originalSource' in entry)) return `${url}:${line}:${column}`;
    const file = fileURLToPath(new URL(entry.originalSource, url));
    return `${file}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  };
  /** @param {NodeJS.CallSite} frame */
  const describe = (frame) => {
    const [url, line, column] = [frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber()];
    if (!url?.startsWith(compiled) || line === null || column === null) return String(frame);
    const place = `${url}:${line}:${column}`;
    const inSource = places.get(place) ?? placeInSource(url, line, column);
    places.set(place, inSource);
    return String(frame).replace(place, inSource);
  };
  Error.prepareStackTrace = (error, frames) =>
    [error, ...frames.map((frame) => `    at ${describe(frame)}`)].join('\n');
};
