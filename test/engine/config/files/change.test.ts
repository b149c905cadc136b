import test from 'ava';
import { effectiveApiKey, needsRestart } from '../../../../engine/config/files/change.ts';
import { ServiceSettings } from '../../../../engine/config/schema.ts';
import type { JsonObject } from '../../../../engine/model/json/json.ts';
import { configOf } from './store-rig.ts';

const open = { HOST: '0.0.0.0', APIKEY: 'k' };

const cases: readonly (readonly [title: string, started: JsonObject, next: JsonObject, fields: readonly string[]])[] = [
  ['nothing', {}, {}, []],
  ['what can change at once', {}, { LOG: false, LIMITS: { ratio: 9 }, APIKEY: 'k', ALLOWED_HOSTS: ['h'] }, []],
  ['a default that is written out', {}, { HOST: '127.0.0.1', PORT: 3456 }, []],
  ['address and port', {}, { HOST: '::1', PORT: 1 }, ['HOST', 'PORT']],
  ['another key on an open port', open, { ...open, APIKEY: 'l' }, []],
  ['no key on a port that is open until then', open, {}, ['HOST', 'APIKEY']],
  ['no key on a loopback port', { APIKEY: 'k' }, {}, []],
];

test('each setting that the schema marks needs a restart', (t) => {
  const changed: JsonObject = {
    HOST: '::1',
    PORT: 1,
    WORKERS: 2,
    FLEET: { store: 'rediss://store.example', key: '00'.repeat(32) },
    TELEMETRY: { ratio: 0.5 },
  };
  const marked = Object.entries(ServiceSettings.properties).flatMap(([name, field]) =>
    'restart' in field ? [name] : [],
  );
  t.deepEqual(marked.sort(), Object.keys(changed).sort());
  for (const name of marked) {
    t.deepEqual(needsRestart(configOf({}), configOf({ [name]: changed[name] })), [name]);
  }
});

for (const [title, started, next, fields] of cases) {
  test(`needs a restart: ${title}`, (t) => {
    t.deepEqual(needsRestart(configOf(started), configOf(next)), [...fields]);
  });
}

test('a port open to other machines always keeps its key', (t) => {
  t.is(effectiveApiKey('0.0.0.0', 'k', configOf({})), 'k');
  t.is(effectiveApiKey('0.0.0.0', 'k', configOf({ APIKEY: 'l' })), 'l');
  t.is(effectiveApiKey('127.0.0.1', 'k', configOf({})), undefined);
  t.is(effectiveApiKey('127.0.0.1', undefined, configOf({ APIKEY: 'l' })), 'l');
});
