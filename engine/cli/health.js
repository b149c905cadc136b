// Health check for containers: exit code 0 if the service of the configuration's folder answers, else 1. Imports no gateway
// code, so that it starts fast.
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';

// As `configHome` in engine/config/read.ts.
const home = (process.env.JUNCTOR_HOME || '~/.junctor').replace(/^~(?=[/\\]|$)/, () => homedir());

/** Goes past the proxy of HTTP_PROXY, which `fetch` and Node.js' shared agent use with NODE_USE_ENV_PROXY. */
const statusOf = (url) =>
  new Promise((resolve, reject) => {
    const asked = get(url, { agent: false, signal: AbortSignal.timeout(3000) }, (answer) => resolve(answer.statusCode));
    asked.once('error', reject);
  });

const isHealthy = async () => {
  const { baseUrl } = JSON.parse(readFileSync(join(home, 'junctor.pid'), 'utf8'));
  return (await statusOf(`${baseUrl}/health`)) === 200;
};

process.exit((await isHealthy().catch(() => false)) ? 0 : 1);
