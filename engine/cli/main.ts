import { Command, Option } from 'commander';
import { configHome } from '../config/read.ts';
import { version } from '../version.ts';
import type { Cli } from './cli.ts';
import { clients, olderGateway } from './neighbours/index.ts';
import { shells } from './shell-lines.ts';

const cli: Cli = {
  env: process.env,
  home: configHome(process.env),
  say: (line) => void process.stdout.write(`${line}\n`),
  tell: (line) => void process.stderr.write(`${line}\n`),
};

/** Ends with the command's exit code, or with one line for whatever goes wrong: users can do nothing with a stack. */
const ending = (work: Promise<unknown>): Promise<void> =>
  work.then(
    (code) => {
      process.exitCode = typeof code === 'number' ? code : 0;
    },
    (error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      cli.tell(`switchyard: ${message.trim().replace(/\s*\n\s*/g, ' ')}`);
      process.exit(1);
    },
  );

const folders = (): Option =>
  new Option('--allow-transformer-path <folder...>', 'a folder from which custom transformers may be loaded');
const asJson = (): Option => new Option('--json', 'write JSON');

// Whoever reads the output may stop reading.
process.stdout.on('error', () => process.exit(0));

const program = new Command('switchyard')
  .description('A gateway that routes requests for language models.')
  .version(version)
  .enablePositionalOptions();

// What a command needs is loaded when it runs, so that the quick ones are quick.
program
  .command('start')
  .description('run the service here until a signal ends it')
  .option('-d, --daemon', 'run it in the background; returns once it answers')
  .addOption(folders())
  .action((options) => ending(import('./start.ts').then(({ start }) => start(cli, options))));

program
  .command('stop')
  .description('end the service when its streams have ended')
  .option('-f, --force', 'do not wait for streams')
  .action((options) => ending(import('./stop.ts').then(({ stop }) => stop(cli, options))));

program
  .command('restart')
  .description('put new processes in the place of those that serve; no request is lost')
  .action(() => ending(import('./restart.ts').then(({ restart }) => restart(cli))));

program
  .command('status')
  .description('whether the service answers, and what it says of itself')
  .addOption(asJson())
  .action((options) => ending(import('./status.ts').then(({ status }) => status(cli, options))));

program
  .command('ui')
  .description('open the web interface')
  .option('-p, --print', 'only say where it is')
  .action((options) => ending(import('./open-ui.ts').then(({ openUi }) => openUi(cli, options))));

program
  .command('config')
  .description('the configuration')
  .command('check')
  .description('say all that is wrong with it')
  .addOption(folders())
  .action((options) => ending(import('./check-config.ts').then(({ checkConfig }) => checkConfig(cli, options))));

program
  .command('models')
  .description('list every name that a request may ask for')
  .addOption(asJson())
  .action((options) => ending(import('./list-models.ts').then(({ listModels }) => listModels(cli, options))));

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
    ending(import('./explain-request.ts').then(({ explainRequest }) => explainRequest(cli, file, options))),
  );

program
  .command('env')
  .description('print the variables that point a program at the service')
  .requiredOption('--for <program>', clients.map(({ name, about }) => `${name}: ${about}`).join('; '))
  .option('--shell <shell>', shells.join(', '), 'posix')
  .action((options) => ending(import('./print-env.ts').then(({ printEnv }) => printEnv(cli, options))));

program
  .command('run')
  .description('run a program that is pointed at the service')
  .argument('<command...>', 'the program and its arguments')
  .passThroughOptions()
  .action((command) => ending(import('./run-client.ts').then(({ runClient }) => runClient(cli, command))));

program
  .command('import')
  .description(`take over a configuration of ${olderGateway.name}`)
  .argument('[path]', `default: ~/${olderGateway.configPath.join('/')}`)
  .option('--dry-run', 'write nothing')
  .action((path, options) =>
    ending(import('./import-config.ts').then(({ importConfig }) => importConfig(cli, path, options))),
  );

await program.parseAsync();
