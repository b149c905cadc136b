import { Command, Option } from 'commander';
import { configHome } from '../config/read.ts';
import { version } from '../paths.ts';
import type { Cli } from './cli.ts';
import { claudeCodeRouter, clients } from './clients.ts';
import { shells } from './env-commands.ts';

const cli: Cli = {
  env: process.env,
  home: configHome(process.env),
  print: (line) => void process.stdout.write(`${line}\n`),
  warn: (line) => void process.stderr.write(`${line}\n`),
};

/** Sets the exit code to the command's; on an error prints its message, without a stack, and exits with 1. */
const runCommand = (work: Promise<unknown>): Promise<void> =>
  work.then(
    (code) => {
      process.exitCode = typeof code === 'number' ? code : 0;
    },
    (error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      cli.warn(`switchyard: ${message.trim()}`);
      process.exit(1);
    },
  );

const folders = (): Option =>
  new Option('--allow-transformer-path <folder...>', 'a folder from which custom transformers may be loaded');
const asJson = (): Option => new Option('--json', 'write JSON');

// A closed output pipe ends a command quietly; `start` keeps running (`outliveOutput`).
process.stdout.on('error', () => process.exit(0));

const program = new Command('switchyard')
  .description('A gateway that routes requests for language models.')
  .version(version)
  .enablePositionalOptions();

// Each command imports its module only when it runs, to keep start-up fast.
program
  .command('start')
  .description('run the service here until a signal ends it')
  .option('-d, --daemon', 'run it in the background; returns once it answers')
  .addOption(folders())
  .action((options) =>
    runCommand(import('./service-commands.ts').then(({ startService }) => startService(cli, options))),
  );

program
  .command('stop')
  .description('end the service when its streams have ended')
  .option('-f, --force', 'do not wait for streams')
  .action((options) => runCommand(import('./service-commands.ts').then(({ stop }) => stop(cli, options))));

program
  .command('restart')
  .description(
    'put new processes, with the environment of the start, in the place of those that serve; no request is lost',
  )
  .action(() => runCommand(import('./service-commands.ts').then(({ restart }) => restart(cli))));

program
  .command('status')
  .description('whether the service answers, and what it says of itself')
  .addOption(asJson())
  .action((options) => runCommand(import('./status.ts').then(({ status }) => status(cli, options))));

program
  .command('ui')
  .description('open the web interface')
  .option('-p, --print', 'only say where it is')
  .action((options) => runCommand(import('./ui.ts').then(({ openUi }) => openUi(cli, options))));

program
  .command('config')
  .description('the configuration')
  .command('check')
  .description('say all that is wrong with it')
  .addOption(folders())
  .action((options) => runCommand(import('./config-commands.ts').then(({ checkConfig }) => checkConfig(cli, options))));

program
  .command('models')
  .description('list every name that a request may ask for')
  .addOption(asJson())
  .action((options) => runCommand(import('./config-commands.ts').then(({ listModels }) => listModels(cli, options))));

program
  .command('explain')
  .description('say where a request would go and what would be sent; nothing is')
  .argument('[file]', 'a request as JSON; - for standard input')
  .option('-c, --client <protocol>', 'messages, chat or responses', 'messages')
  .option('-m, --model <name>', 'instead of a file: the model of a small request')
  .option('-t, --text <text>', "that request's text")
  .addOption(asJson())
  .addOption(folders())
  .action((file, options) =>
    runCommand(import('./explain.ts').then(({ explainRequest }) => explainRequest(cli, file, options))),
  );

program
  .command('env')
  .description('print the variables that point a program at the service')
  .requiredOption('--for <program>', clients.map(({ name, about }) => `${name}: ${about}`).join('; '))
  .option('--shell <shell>', shells.join(', '), 'posix')
  .option('--context <tokens>', 'the context window of the models behind the gateway')
  .action((options) => runCommand(import('./env-commands.ts').then(({ printEnv }) => printEnv(cli, options))));

program
  .command('run')
  .description('run a program that is pointed at the service')
  .argument('<command...>', 'the program and its arguments')
  .passThroughOptions()
  .action((command) => runCommand(import('./env-commands.ts').then(({ runClient }) => runClient(cli, command))));

program
  .command('import')
  .description(`take over a configuration of ${claudeCodeRouter.name}`)
  .argument('[path]', `default: ~/${claudeCodeRouter.configPath.join('/')}`)
  .option('--dry-run', 'write nothing')
  .action((path, options) =>
    runCommand(import('./import/import.ts').then(({ importConfig }) => importConfig(cli, path, options))),
  );

await program.parseAsync();
