import { Command, Option } from 'commander';
import { messageOf } from '../../model/fault.ts';
import { clientWires } from '../../model/wire/client-wires.ts';
import { version } from '../../paths.ts';
import type { Cli } from '../cli.ts';
import { clients, syntaxes } from './clients/clients.ts';
import { claudeCodeRouter } from './import/field-tables.ts';

/** Runs what a command does with its environment. */
type RunCommand = (command: (cli: Cli) => Promise<unknown>) => Promise<void>;

/** The text printed for a command's error: its message, without a stack. */
export const failureText = (error: unknown): string => `junctor: ${messageOf(error).trim()}`;

const folders = (): Option =>
  new Option('--allow-transformer-path <folder...>', 'a folder that custom transformers may be loaded from');
const keyCommands = (): Option =>
  new Option('--allow-key-command <command...>', "a command that may be run for a provider's key, in quotes");
const asJson = (): Option => new Option('--json', 'print JSON');

/** The command `junctor`. What its commands do is run by `run`; it resolves to the exit code, if that isn't 0. */
export const createProgram = (run: RunCommand): Command => {
  const program = new Command('junctor')
    .description('A gateway that routes requests to language models.')
    .version(version)
    .enablePositionalOptions();

  // Each command imports its module only when it runs, to keep start-up fast.
  program
    .command('start')
    .description('run the service in the foreground until a signal stops it; also without a command')
    .option('-d, --daemon', 'run in the background; return once it is ready')
    .addOption(folders())
    .addOption(keyCommands())
    .action((options) => run(async (cli) => (await import('./service-commands.ts')).startService(cli, options)));

  program
    .command('stop')
    .description('stop the service after its streams have finished')
    .option('-f, --force', 'do not wait for streams')
    .action((options) => run(async (cli) => (await import('./service-commands.ts')).stop(cli, options)));

  program
    .command('restart')
    .description('replace the processes of the service and reload the configuration; no request is lost')
    .action(() => run(async (cli) => (await import('./service-commands.ts')).restart(cli)));

  program
    .command('status')
    .description('show the state of the service')
    .addOption(asJson())
    .action((options) => run(async (cli) => (await import('./status.ts')).status(cli, options)));

  program
    .command('logs')
    .description('print the end of the application log')
    .option('-f, --follow', 'and what is added to it, until a signal')
    .option('-r, --requests', 'of the server log instead, which has the requests')
    .option('-n, --lines <number>', 'lines to begin with', '50')
    .action((options) => run(async (cli) => (await import('./logs.ts')).printLogs(cli, options)));

  const service = program
    .command('service')
    .description("run the service by the system's service manager, for one user");
  service
    .command('install')
    .description('write the service file (systemd, launchd) and start the service')
    .addOption(folders())
    .addOption(keyCommands())
    .option('--with-variables', "add this shell's keys, proxies and certificates that it needs to service.env")
    .action((options) =>
      run(async (cli) => (await import('../system/install-service.ts')).installService(cli, options)),
    );
  service
    .command('uninstall')
    .description('stop the service and remove its file')
    .action((options) =>
      run(async (cli) => (await import('../system/install-service.ts')).uninstallService(cli, options)),
    );
  service
    .command('print')
    .description('print the service file without installing it')
    .addOption(folders())
    .addOption(keyCommands())
    .action((options) => run(async (cli) => (await import('../system/install-service.ts')).printService(cli, options)));

  program
    .command('ui')
    .description('open the web interface')
    .option('-p, --print', 'only print its URL')
    .action((options) => run(async (cli) => (await import('./ui.ts')).openUi(cli, options)));

  const config = program.command('config').description('work with the configuration');
  config
    .command('check')
    .description('list all faults and warnings')
    .addOption(folders())
    .addOption(keyCommands())
    .action((options) => run(async (cli) => (await import('./config-commands.ts')).checkConfig(cli, options)));

  config
    .command('schema')
    .description('print the JSON Schema of config.json')
    .action(() => run(async (cli) => (await import('./config-commands.ts')).printSchema(cli)));

  program
    .command('providers')
    .description('work with providers')
    .command('find')
    .description('find model servers on this machine: Ollama, LM Studio, llama.cpp, vLLM')
    .option('--add', 'add those that the configuration lacks')
    .addOption(asJson())
    .action((options) => run(async (cli) => (await import('./provider-commands.ts')).findProviders(cli, options)));

  program
    .command('doctor')
    .description("examine a provider's model by a few requests, and find the settings that it needs")
    .argument('[provider[,model]]', 'default: the default route')
    .option('-y, --yes', 'do not ask before the requests')
    .option('--apply', 'write what heals into the configuration')
    .addOption(asJson())
    .addOption(folders())
    .addOption(keyCommands())
    .action((target, options) =>
      run(async (cli) => (await import('./doctor-command.ts')).runDoctor(cli, target, options)),
    );

  program
    .command('models')
    .description('list all model names that requests may use, and what is known of the models')
    .option('--refresh', 'ask the providers for their lists first')
    .addOption(asJson())
    .action((options) => run(async (cli) => (await import('./model-commands.ts')).listModels(cli, options)));

  program
    .command('explain')
    .description('show how a request would be routed and converted, without sending it')
    .argument('[file]', 'file with a JSON request; - for standard input')
    .option('-c, --client <protocol>', clientWires.join(', '), 'messages')
    .option('-m, --model <name>', 'model of a small request, in place of a file')
    .option('-t, --text <text>', 'text of that request')
    .option('--header <name: value...>', 'headers of the request')
    .option('--key <name>', 'the client in CLIENTS whose key it carries')
    .option(
      '--path <path>',
      "the request's path, such as /v1/responses/compact; default: the usual one of its protocol",
    )
    .addOption(asJson())
    .addOption(folders())
    .action((file, options) => run(async (cli) => (await import('./explain.ts')).explainRequest(cli, file, options)));

  const captures = program.command('captures').description('recorded requests of the running service');
  captures
    .command('list')
    .description('list them, newest first')
    .action(() => run(async (cli) => (await import('./capture-commands.ts')).listCaptures(cli)));
  captures
    .command('export')
    .description('write one to a file, without keys; `junctor replay` plays it')
    .argument('<id>', "the request's id")
    .argument('<file>')
    .option('--redact', 'replace texts by stand-ins of the same shape')
    .action((id, file, options) =>
      run(async (cli) => (await import('./capture-commands.ts')).exportCapture(cli, id, file, options)),
    );

  program
    .command('replay')
    .description("play a capture's answer through the configuration, and compare it with the recorded one")
    .argument('<file>', 'a file of `junctor captures export`')
    .option('-c, --client <protocol>', `answer in another protocol: ${clientWires.join(', ')}`)
    .option('--to <provider,model>', 'in place of the recorded destination')
    .option('--speed <factor>', 'times as fast as recorded, or max', 'max')
    .addOption(folders())
    .action((file, options) =>
      run(async (cli) => (await import('./capture-commands.ts')).replayCapture(cli, file, options)),
    );

  const stage = program.command('stage').description('custom transformers');
  stage
    .command('new')
    .description('write one and its test into this folder, to be changed')
    .argument('<name>')
    .option('--js', 'in JavaScript')
    .action((name, options) => run(async (cli) => (await import('./new-stage.ts')).newStage(cli, name, options)));
  stage
    .command('try')
    .description(
      'run one without a provider: what it changes, what it costs, and whether it bears cuts and clients that go',
    )
    .argument('<file>')
    .option('--capture <id or file>', 'on the request and the answer of a capture')
    .option('--text <text>', 'on a request of this text')
    .option('--answer <text>', 'on this answer of the model')
    .option('--options <json>', "its options; default: those of the module's entry in the configuration")
    .option('--ask <provider,model=answer...>', 'what stands in for the models that it may ask')
    .addOption(asJson())
    .action((file, options) =>
      run(async (cli) => (await import('./stage-commands.ts')).tryStageFile(cli, file, options)),
    );

  program
    .command('bench')
    .description('measure requests and streams against simulated vendors, beside the bare stack')
    .argument('[scene...]', 'what is measured; --list names all')
    .option('--quick', 'a look, within a minute')
    .option('--all', 'every column, and the costs in words')
    .option('--list', 'name all scenes, pairs and switches')
    .option('--pairs <a,b>', 'client and provider formats, such as messages-chat')
    .option('--config <file>', 'with this configuration; simulated vendors take the place of its providers')
    .option('--stage <file>', 'what this custom transformer adds')
    .option('--options <json>', 'its options')
    .option('--capture <file>', 'the request and the answer of a capture as load')
    .option('--target <url>', 'an address of your own in place of simulated vendors: a provider, or any gateway')
    .option('--requests <number>', 'requests to --target; default: 20')
    .option('--client <protocol>', `what --target speaks: ${clientWires.join(', ')}; default: chat`)
    .option('--model <name>', 'model at --target; default: the first that it lists')
    .option('--key-variable <name>', 'the variable with the key for --target; default: BENCH_KEY')
    .option('--gateways <a,b>', 'junctor, folders of other checkouts, or modules that export a `target`')
    .option('--ablate <a,b>', 'without one thing at a time')
    .option('--sweep', 'raise the rate until the gateway no longer keeps up')
    .option('--compare <file>', 'with the figures of an earlier run, written by --json')
    .option('--fail-over <times>', 'exit code 1 for more processor time than so many times the compared one')
    .option('--rounds <number>', 'rounds of each participant in the scene `pairs`')
    .option('--round-ms <milliseconds>', 'and their length')
    .option('--json <file>', 'write the figures')
    .option('--html <file>', 'write a page with charts')
    .option('--publish', 'write the figures into the docs of this checkout')
    .addOption(folders())
    .action((scenes, options) =>
      run(async (cli) => (await import('./bench-command.ts')).runBench(cli, scenes, options)),
    );

  const preset = program.command('preset').description('presets as files that can be passed on');
  preset
    .command('export')
    .description('write a preset to one file; keys that it spells out stay behind')
    .argument('<name>')
    .argument('<file>')
    .action((name, file) => run(async (cli) => (await import('./preset-commands.ts')).exportPreset(cli, name, file)));
  preset
    .command('import')
    .description('add a preset from such a file')
    .argument('<file>')
    .option('--name <name>', 'in place of the one in the file')
    .option('--replace', 'replace a preset of this name')
    .action((file, options) =>
      run(async (cli) => (await import('./preset-commands.ts')).importPreset(cli, file, options)),
    );

  const client = program.command('client').description('clients with keys of their own');
  client
    .command('add')
    .description('add a client and print its key, which is not stored')
    .argument('<name>')
    .option('--models <glob...>', 'the models that it may use')
    .option('--routes <name...>', 'the routes that it may use')
    .option('--requests-per-minute <number>', 'requests in any minute')
    .option('--tokens-per-minute <number>', 'tokens in any minute')
    .option('--streams <number>', 'answers at a time')
    .option('--budget-tokens <number>', 'tokens per month, or as --budget-per says')
    .option('--budget-usd <number>', 'USD per month, or as --budget-per says')
    .option('--budget-per <period>', 'day or month')
    .option('--expires <time>', 'when its key ends: 2026-12-31, 2026-12-31T18:00Z, or in 12h, 90d, 8w')
    .action((name, options) =>
      run(async (cli) => (await import('./client-commands.ts')).addClient(cli, name, options)),
    );

  client
    .command('list')
    .description('list the clients, their limits and what they used')
    .addOption(asJson())
    .action((options) => run(async (cli) => (await import('./client-commands.ts')).listClients(cli, options)));

  client
    .command('revoke')
    .description('remove a client, whose key is refused from then on')
    .argument('<name>')
    .action((name) => run(async (cli) => (await import('./client-commands.ts')).revokeClient(cli, name)));

  client
    .command('hash')
    .description('print the digest of a key, which is read from standard input')
    .action(() => run(async (cli) => (await import('./client-commands.ts')).hashKey(cli)));

  program
    .command('usage')
    .description('show requests, tokens, cost and times')
    .option('--by <what>', 'model, provider, client, scenario or protocol, or two, as client,model', 'model')
    .option('--since <time>', 'a time, or how long ago: 36h, 7d', '30d')
    .option('--until <time>', 'the end; default: now')
    .option('--step <step>', 'minute, hour, day or month')
    .option('--times', 'show how long requests took instead')
    .addOption(asJson())
    .option('--csv', 'print CSV')
    .action((options) => run(async (cli) => (await import('./usage.ts')).printUsage(cli, options)));

  program
    .command('env')
    .description('print the environment variables that connect a client to the service')
    .requiredOption('--for <program>', clients.map(({ name, title }) => `${name}: ${title}`).join('; '))
    .option('--shell <shell>', syntaxes.join(', '), 'posix')
    .option('--context <tokens>', 'context window of the models')
    .action((options) => run(async (cli) => (await import('./env-commands.ts')).printEnv(cli, options)));

  program
    .command('run')
    .description('run a client that is connected to the service')
    .argument('<command...>', 'the program and its arguments')
    .passThroughOptions()
    .action((command) => run(async (cli) => (await import('./env-commands.ts')).runClient(cli, command)));

  program
    .command('import')
    .description(`import a configuration of ${claudeCodeRouter.name}, or a folder of this gateway`)
    .argument('[path]', `default: ~/${claudeCodeRouter.configPath.join('/')}`)
    .option(
      '--from <folder>',
      "a folder of this gateway under its former name, or another one of this gateway's, as a whole",
    )
    .option('--dry-run', 'write nothing')
    .action((path, options) =>
      run(async (cli) =>
        options.from === undefined
          ? (await import('./import/import.ts')).importConfig(cli, path, options)
          : (await import('./import/import-folder.ts')).importFolder(cli, path, options),
      ),
    );
  return program;
};
