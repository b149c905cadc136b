#!/usr/bin/env node
// Only syntax that every Node.js with `import()` reads, and no static import: an unsupported version must get as far as the message.
/* biome-ignore-all lint/style/useTemplate: see above. */
/* biome-ignore-all lint/complexity/useArrowFunction: see above. */

// As `engines` in package.json: ^20.19 || ^22.12 || >=24.
const [major, minor] = process.versions.node.split('.').map(Number);
const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;

const stop = function (text) {
  process.stderr.write(text);
  process.exit(1);
};

if (!isSupported) {
  stop(
    'Junctor needs Node.js 20.19 or a later 20, 22.12 or a later 22, or 24 and above; this is ' +
      process.versions.node +
      ' (' +
      process.execPath +
      ').\n' +
      'Get one from https://nodejs.org/en/download, or from a version manager: `nvm install 22`, `fnm install 22`, `mise use -g node@22`, `brew install node@22`.\n' +
      'Then install Junctor again with it, or run it by its full path.\n',
  );
}

try {
  process.cwd();
} catch (_error) {
  stop("The current folder doesn't exist any more: change to another one, and run the command again.\n");
}

import('../launch/load.js').then(function (launch) {
  return launch.load('main', '../cli/program.ts');
});
