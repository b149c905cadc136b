import type { Cli } from './cli.ts';
import { createProgram, failureText } from './commands/commands.ts';

const print = (line: string) => void process.stdout.write(`${line}\n`);
const warn = (line: string) => void process.stderr.write(`${line}\n`);

// A closed output pipe ends a command quietly; `start` keeps running (`outliveOutput`).
process.stdout.on('error', () => process.exit(0));

const program = createProgram(async (command) => {
  try {
    // Imported here, since help and the version need no configuration.
    const { configHome } = await import('../config/read.ts');
    const cli: Cli = { env: process.env, home: configHome(process.env), print, warn };
    const code = await command(cli);
    process.exitCode = typeof code === 'number' ? code : 0;
  } catch (error) {
    warn(failureText(error));
    process.exit(1);
  }
});

// `npx junctor` runs the service.
await program.parseAsync(process.argv.length > 2 ? process.argv : [...process.argv, 'start']);
