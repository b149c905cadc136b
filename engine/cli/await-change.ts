import { setTimeout as pause } from 'node:timers/promises';
import { isJsonObject, type JsonObject, parseJson } from '../model/json/json.ts';
import { askDirectly } from '../runtime/ask-directly.ts';
import type { Cli } from './cli.ts';
import { locateService, type ServiceLocation } from './reach-service.ts';

/** Time limit for a service to apply a change of its file, in milliseconds. */
const longestMs = 10_000;
const betweenMs = 50;

/** Connections per process that must see the change: the system spreads new ones over the processes. */
const asksPerProcess = 4;

/** The outcome of a change in a running service. `absent`: none runs. `unknown`: it didn't answer in time. */
type Awaited = 'applied' | 'absent' | 'unknown';

/** Waits until a running service serves a change of its file: until each answer of `path` fulfils `isApplied`. */
export const awaitChange = async (
  cli: Cli,
  path: string,
  isApplied: (answer: JsonObject) => boolean,
): Promise<Awaited> => {
  const located = await locateService(cli);
  if (located.found.type !== 'running') return 'absent';
  const { workers = 1 } = located.config ?? {};
  const needed = workers === 1 ? 1 : workers * asksPerProcess;
  let seen = 0;
  for (const until = Date.now() + longestMs; Date.now() < until; ) {
    const answer = await askOnce(located, path);
    if (answer === undefined) return 'unknown';
    seen = isApplied(answer) ? seen + 1 : 0;
    if (seen >= needed) return 'applied';
    if (seen === 0) await pause(betweenMs);
  }
  return 'unknown';
};

/** Asks over a connection of its own, which any process may get. `undefined`: there is no useful answer. */
const askOnce = async ({ baseUrl, apiKey }: ServiceLocation, path: string): Promise<JsonObject | undefined> => {
  const headers = apiKey === undefined ? {} : { 'x-api-key': apiKey };
  const answer = await askDirectly(baseUrl + path, { headers, limitMs: longestMs }).catch(() => undefined);
  const body = answer?.status === 200 ? parseJson(answer.text) : undefined;
  return isJsonObject(body) ? body : undefined;
};
