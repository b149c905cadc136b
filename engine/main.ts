import { banner } from './banner.ts';
import { readCommandLine } from './command-line.ts';
import { configHome } from './config/read.ts';
import { type Service, start } from './start.ts';

/** Runs the service in the foreground until a signal ends it: the first one lets requests finish, a second one doesn't. */
const main = async (): Promise<void> => {
  const { transformerFolders } = readCommandLine(process.argv.slice(2));
  const service = await start({ env: process.env, home: configHome(process.env), transformerFolders, report: warn });
  process.stdout.write(banner(service));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => onSignal(service));
};

let stopping = false;

const onSignal = (service: Service): void => {
  if (stopping) process.exit(1);
  stopping = true;
  service.stop().then(() => process.exit(0), end);
};

const warn = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const end = (error: unknown): void => {
  warn(`switchyard: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
};

main().catch(end);
