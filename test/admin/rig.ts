import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { formatFault } from '../../admin/endpoint.ts';
import { defaultSettings } from '../../engine/config/sections/service-settings.ts';
import type { ChosenServer } from '../../engine/http/choose-server.ts';
import { listen } from '../../engine/http/listener.ts';
import { createRouter, type HttpRoute } from '../../engine/http/router.ts';

/** The key that a rig's listener asks for. */
export const apiKey = 'the-key';

/** Requests to rows behind a listener. */
export interface Rig {
  readonly baseUrl: string;
  /** Sends a request with the key. */
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>;
}

/** Serves rows on a free port until the test ends; by the server that the environment chooses, unless one is given. */
export const serveRoutes = async (
  t: ExecutionContext,
  rows: readonly HttpRoute[],
  server?: ChosenServer,
): Promise<Rig> => {
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    router: createRouter(rows, formatFault),
    guard: { host: '127.0.0.1', allowedHosts: [] },
    limits: defaultSettings().limits,
    apiKey,
    server,
  });
  t.teardown(() => listener.close());
  const baseUrl = `http://127.0.0.1:${listener.port}`;
  return {
    baseUrl,
    ask: (path, init = {}) =>
      fetch(`${baseUrl}${path}`, { ...init, headers: { 'x-api-key': apiKey, ...init.headers } }),
  };
};

/** A folder that is removed when the test ends. */
export const temporaryFolder = (t: ExecutionContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'junctor-admin-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** An answer's body, which a test takes for what it expects. */
export const jsonOf = async <T>(answer: Response): Promise<T> => JSON.parse(await answer.text());
