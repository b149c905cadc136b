import { callService } from './call-service.ts';
import { type Cli, CommandError } from './cli.ts';
import { locateRunning } from './locate.ts';

/** `switchyard restart`: new processes with the configuration as it is now; no request is lost. */
export const restart = async (cli: Cli): Promise<void> => {
  const located = await locateRunning(cli);
  const { status, body } = await callService(located, 'POST', '/api/restart');
  const message = typeof body.message === 'string' ? body.message : `The service answered with status ${status}.`;
  if (status !== 200) {
    const hint = status === 401 ? ' The configuration has another APIKEY than the service that runs.' : '';
    throw new CommandError(message.trim().replace(/\s*\n\s*/g, ' ') + hint);
  }
  cli.say(message);
};
