import test from 'ava';
import { isLoopback } from '../../../../engine/config/sections/service-settings.ts';

const loopback = [
  '127.0.0.1',
  '127.8.9.10',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  '::1',
  '[::1]',
  '::1%lo',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
];
const open = [
  '0.0.0.0',
  '::',
  '[::]',
  '10.0.0.1',
  '128.0.0.1',
  '127.0.0.1.example.com',
  'localhost.example.com',
  'mylocalhost',
  '::2',
  '::ffff:10.0.0.1',
  'fe80::1%eth0',
  '',
  '127.1.example',
  'example.com',
  '::127.0.0.1',
];

for (const host of loopback) test(`"${host}" is a loopback host`, (t) => t.true(isLoopback(host)));
for (const host of open) test(`"${host}" is no loopback host`, (t) => t.false(isLoopback(host)));
