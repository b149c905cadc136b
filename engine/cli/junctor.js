#!/usr/bin/env node
import process from 'node:process';
import { load } from '../launch/load.js';

try {
  process.cwd();
} catch {
  process.stderr.write(
    "The current folder doesn't exist any more: change to another one, and run the command again.\n",
  );
  process.exit(1);
}

await load('main', '../cli/program.ts');
