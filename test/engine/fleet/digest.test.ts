import test from 'ava';
import { configDigest } from '../../../engine/hub/fleet.ts';

test('F10 members that differ in where they listen have one configuration; any other difference is one', (t) => {
  const source = { PORT: 1, HOST: '10.0.0.1', FLEET: { store: 's', address: 'http://a' }, LOG: false };
  const same = { ...source, PORT: 2, HOST: '10.0.0.2', FLEET: { store: 's', address: 'http://b' } };
  t.is(configDigest(source), configDigest(same));
  t.not(configDigest(source), configDigest({ ...source, LOG: true }));
  t.not(configDigest(source), configDigest({ ...source, FLEET: { store: 'other', address: 'http://a' } }));
});
