import { catchError, defer, from, map, mergeMap, type Observable, take, throwError, timeout, toArray } from 'rxjs';
import type { LoadedRouter, OlderQuestion, RouteQuestion } from '../config/custom/load-router.ts';
import { findDestination } from '../config/sections/destination.ts';
import type { Decoded } from '../exchange.ts';
import { FaultError, quoted } from '../model/fault.ts';
import type { JsonObject } from '../model/json/json.ts';
import { Losses } from '../model/loss.ts';
import { ToolNames } from '../model/wire/tool-names.ts';
import { isSecretParameter } from '../observe/log/mask-text.ts';
import type { Gateway } from '../routing/gateway.ts';
import { originOf } from '../routing/rules/request-facts.ts';
import type { OwnRoute } from '../routing/rules/rules.ts';
import { inStep } from '../runtime/loop-watch.ts';

const routerStep = 'router module';

/**
 * Asks the router module for a destination; `undefined` if it gives none. Throws `stage-failed`, with the module's path, if it can't
 * be used, fails, takes too long, or returns anything but a destination.
 */
export const askRouter = (
  router: LoadedRouter,
  decoded: Decoded,
  gateway: Gateway,
): Observable<OwnRoute | undefined> => {
  const { timeouts } = gateway.config;
  return defer(() => inStep(routerStep, () => answerOf(router, decoded, gateway))).pipe(
    take(2),
    toArray(),
    timeout({
      first: timeouts.stageMs,
      with: () => throwError(() => routerFault(router, `gave no answer within ${timeouts.stageMs} ms`)),
    }),
    map(([answer = '', ...others]) => {
      if (answer === null || answer === '') return undefined;
      if (typeof answer !== 'string' || others.length > 0)
        throw routerFault(router, 'returned something other than one destination');
      const found = findDestination(gateway.config, answer, decoded.request.model);
      if (!found) throw routerFault(router, `returned a destination that matches no provider: ${quoted(answer)}`);
      return { ...found, scenario: 'module', reason: `module: ${router.name}` } as const;
    }),
    catchError((error: unknown) =>
      throwError(() => (error instanceof FaultError ? error : routerFault(router, 'failed on the request', error))),
    ),
  );
};

const routerFault = ({ name }: LoadedRouter, what: string, cause?: unknown): FaultError =>
  new FaultError(
    { kind: 'stage-failed', message: `The router module "${name}" ${what}.`, code: 'router_failed' },
    cause === undefined ? {} : { cause },
  );

const answerOf = (router: LoadedRouter, decoded: Decoded, gateway: Gateway): Observable<unknown> => {
  switch (router.form) {
    case 'unusable':
      throw routerFault(router, "can't be used; app.log says why");
    case 'question':
      return router.choose(questionOf(decoded, gateway));
    case 'messages':
      return olderQuestionOf(decoded, gateway).pipe(mergeMap(router.choose));
    default:
      return router satisfies never;
  }
};

const questionOf = (
  { request, client, incoming, preset, startedAtMs }: Decoded,
  { tokens }: Gateway,
): RouteQuestion => ({
  request,
  client: client.wire,
  ...originOf(incoming, preset),
  header: (name) => (isSecretParameter(name) ? undefined : incoming.header(name.toLowerCase())),
  atMs: startedAtMs,
  tokens: async () => (await tokens.count(request)).tokens,
});

const olderQuestionOf = ({ request, client, text }: Decoded, gateway: Gateway): Observable<OlderQuestion> => {
  const { registry, tokens } = gateway;
  const context = {
    names: new ToolNames(),
    losses: new Losses(client.wire),
    replyPassesThrough: false,
    client: client.wire,
  };
  // Parsed anew, since a module may change it.
  const body: JsonObject =
    client.wire === 'messages' ? JSON.parse(text) : (registry.messagesBody?.(request, context) ?? {});
  return from(tokens.count(request)).pipe(
    map(({ tokens: tokenCount }) => ({ request: { body, tokenCount }, config: olderConfig(gateway) })),
  );
};

/** The configuration in the older spelling, without credentials. */
const olderConfig = ({ config: { providers, router }, longContext }: Gateway): JsonObject => ({
  Providers: providers.map(({ name, baseUrl, models }) => ({ name, api_base_url: baseUrl.href, models })),
  Router: {
    ...(router.default !== undefined && { default: router.default }),
    longContextThreshold: longContext().threshold,
    ...router.routes,
  },
});
