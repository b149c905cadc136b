// Whether the service of this configuration's folder answers: exit code 0 or 1. For a container's health check, so it loads nothing.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const home = process.env.SWITCHYARD_HOME || join(homedir(), '.switchyard');

const isHealthy = async () => {
  const { baseUrl } = JSON.parse(readFileSync(join(home, 'switchyard.pid'), 'utf8'));
  const response = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(3000) });
  return response.ok;
};

process.exit((await isHealthy().catch(() => false)) ? 0 : 1);
