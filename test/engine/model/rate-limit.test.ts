import test from 'ava';
import { plainLimits } from '../../../engine/model/rate-limit.ts';

const plain = [
  '0',
  '-1',
  '12.5',
  '1764234000',
  '12ms',
  '1s',
  '6m0s',
  '1h2m3.5s',
  '2026-01-01T00:00:00Z',
  '2026-01-01T00:00:00.123456+02:00',
  'Fri, 27 Nov 2026 04:42:22 GMT',
  'true',
  'allowed_warning',
  'seven_day',
];

const others = [
  '',
  'sk-a-key',
  'the-key',
  'secret',
  '12 the-key',
  '1s;the-key',
  '0x12',
  '1e400',
  'a'.repeat(40),
  '1'.repeat(41),
  'allowed the-key',
];

test('numbers, durations, dates and known words are limits; whatever else an upstream writes there is not', (t) => {
  for (const value of plain) t.deepEqual(plainLimits({ 'x-ratelimit-any': value }), { 'x-ratelimit-any': value });
  for (const value of others)
    t.deepEqual(plainLimits({ 'x-ratelimit-any': value, 'retry-after': '3' }), { 'retry-after': '3' }, value);
});
