import test from 'ava';
import { validateConfig } from '../../../../engine/config/validate.ts';
import type { JsonObject } from '../../../../engine/model/json/json.ts';

const key = '01'.repeat(32);
const store = 'redis://127.0.0.1:6379';

const cases: readonly (readonly [fleet: JsonObject, ...faults: RegExp[]])[] = [
  [{ store, key }],
  [{ store: '$STORE', key: ['$KEY', key] }],
  [{ store: [store, 'redis://127.0.0.1:6380'], primary: 'main', key }],
  [{ key }, /FLEET\.store/],
  [{ store }, /FLEET\.key/],
  [{ store: 'http://x', key }, /^FLEET\.store must be a URL such as rediss:/],
  [{ store: [store, 'valkey'], key }, /^FLEET\.store\[1\] must be a URL/],
  [{ store: [store, 'rediss://h'], key }, /^FLEET\.store must have either/],
  [{ store, key: 'a-secret-that-is-short' }, /^FLEET\.key must be 32 bytes/],
  [{ store, key: [key, ''] }, /^FLEET\.key\[1\] must be 32 bytes/],
  [{ store: 'redis://u:$UNSET@h', key }, /^FLEET\.store names the environment variable UNSET, which is not set/],
  [{ store, key: '$UNSET' }, /^FLEET\.key names the environment variable UNSET, which is not set/],
  [{ store, key, name: 'a b' }, /^FLEET\.name must be/],
  [{ store, key, witoutStore: 'open' }, /^FLEET\.witoutStore is unknown.*did you mean withoutStore/],
  [{ store, key, withoutStore: 'close' }, /^FLEET\.withoutStore/],
  [{ store, key, replicas: 0 }, /^FLEET\.replicas/],
  [{ store, key, address: 'https://10.0.0.7:3456' }],
  [{ store, key, address: '10.0.0.7:3456' }, /^FLEET\.address must be a URL such as http:/],
  [{ store, key, address: 'ftp://10.0.0.7' }, /^FLEET\.address must be a URL such as http:/],
  [{ store, key, address: 'http://$UNSET:3456' }, /^FLEET\.address names the environment variable UNSET/],
];

for (const [fleet, ...expected] of cases) {
  test(`FLEET ${JSON.stringify(fleet)}: ${expected.length === 0 ? 'is fine' : 'the fault names the field'}`, (t) => {
    const result = validateConfig({ FLEET: fleet }, { STORE: store, KEY: key });
    const faults = 'faults' in result ? result.faults.map(({ path, message }) => `${path} ${message}`) : [];
    t.is(faults.length, expected.length, faults.join('\n'));
    for (const [index, fault] of expected.entries()) t.regex(faults[index] ?? '', fault);
    t.false(faults.join().includes('a-secret'), 'a secret is never repeated');
  });
}
