// Health check for containers: exit code 0 if the service of the configuration's folder answers, else 1. Imports no gateway
// code, so that it starts fast.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const home = process.env.JUNCTOR_HOME || join(homedir(), '.junctor');

const isHealthy = async () => {
  const { baseUrl } = JSON.parse(readFileSync(join(home, 'junctor.pid'), 'utf8'));
  const response = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(3000) });
  return response.ok;
};

process.exit((await isHealthy().catch(() => false)) ? 0 : 1);
