import test from 'ava';
import { chooseServer } from '../../../engine/http/choose-server.ts';
import { loadUws, UwsUnavailable, uwsMissing } from '../../../engine/http/uws/uws.ts';
import { ForeignNative } from '../../../engine/http/uws/verify-native.ts';

const failing = (error: Error) => () => {
  throw error;
};
const unfit = failing(uwsMissing({ platform: 'linux', arch: 'x64', node: '20.20.2', glibc: '' }));
const absent = failing(
  new UwsUnavailable('uWebSockets.js is not installed', 'run `npm install --include=optional`', true),
);
const foreign = failing(new ForeignNative("Can't start: not the recorded build."));

test('uWebSockets.js serves where a build runs, and its release is the reason', (t) => {
  const { facts, warning } = chooseServer('');
  const { version } = loadUws();
  t.deepEqual(facts, { server: 'uws', reason: `uWebSockets.js ${version} runs here` });
  t.is(warning, loadUws().warning);
});

test('node:http serves where no build runs; the reason names the machine', (t) => {
  t.deepEqual(chooseServer('', unfit).facts, {
    server: 'node',
    reason: 'No build of uWebSockets.js runs here (linux x64, glibc absent, Node 20.20.2)',
  });
});

test('node:http serves where the package is missing; the reason names the command that installs it', (t) => {
  t.deepEqual(chooseServer('', absent).facts, {
    server: 'node',
    reason: 'uWebSockets.js is not installed: run `npm install --include=optional`.',
  });
});

test('JUNCTOR_HTTP chooses either; node loads no native build', (t) => {
  t.deepEqual(chooseServer('uws').facts, { server: 'uws', reason: 'JUNCTOR_HTTP=uws' });
  const unused = failing(new Error('loaded'));
  t.deepEqual(chooseServer('node', unused).facts, { server: 'node', reason: 'JUNCTOR_HTTP=node' });
});

test('JUNCTOR_HTTP=uws where it can not run is an error with what to do', (t) => {
  const { message } = t.throws(() => chooseServer('uws', unfit));
  t.regex(
    message,
    /^JUNCTOR_HTTP=uws is not possible\. No build .*: use Node 20 or 22 .*Without it, node:http serves\.$/,
  );
  t.regex(t.throws(() => chooseServer('uws', absent)).message, /run `npm install --include=optional`/);
});

test('an unknown value is an error that names the known ones', (t) => {
  const { message } = t.throws(() => chooseServer('deno'));
  t.is(message, 'JUNCTOR_HTTP=deno is unknown: set it to "uws" or "node", or leave it unset.');
});

test('S17 a build that is not the recorded one is an error, never a reason for the other server', (t) => {
  for (const wanted of ['', 'uws']) t.throws(() => chooseServer(wanted, foreign), { instanceOf: ForeignNative });
});
