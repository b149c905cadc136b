#!/usr/bin/env node
import { load } from '../launch/load.js';

await load('main', '../cli/program.ts');
