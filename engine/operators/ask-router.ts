import { catchError, defer, from, map, mergeMap, type Observable, take, throwError, timeout, toArray } from 'rxjs';
import type { LoadedRouter, OlderQuestion, RouteQuestion } from '../config/custom/load-router.ts';
import { findDestination } from '../config/sections/destination.ts';
import type { Decoded } from '../exchange.ts';
import { FaultError, quoted } from '../model/fault.ts';
import { isJsonObject, type JsonObject } from '../model/json/json.ts';
import { Losses } from '../model/loss.ts';
import { ToolNames } from '../model/wire/tool-names.ts';
import { isSecretParameter } from '../observe/log/mask-text.ts';
import type { Gateway } from '../routing/gateway.ts';
import { originOf } from '../routing/rules/request-facts.ts';
import type { OwnRoute } from '../routing/rules/rules.ts';
import { inStep } from '../runtime/loop-watch.ts';
import { clientText } from './read-client-body.ts';

const routerStep = 'router module';

/**
 * Asks the router module for a destination; `undefined` if it gives none. Throws `stage-failed`, with the module's path, if it can't
 * be used, fails, takes too long, or returns anything but destinations.
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
    map(([answer = '', ...more]) => {
      if (answer === null || answer === '') return undefined;
      const chosen = more.length > 0 ? undefined : chosenBy(answer);
      if (!chosen) throw routerFault(router, 'returned something other than destinations');
      const [first, ...others] = chosen.to.map((text) => {
        const found = findDestination(gateway.config, text, decoded.request.model);
        if (!found) throw routerFault(router, `returned a destination that matches no provider: ${quoted(text)}`);
        return { text, found };
      });
      if (!first) return undefined;
      const why = chosen.reason === undefined ? '' : `, ${chosen.reason.slice(0, maxReason)}`;
      return {
        ...first.found,
        scenario: 'module',
        reason: `module: ${router.name}${why}`,
        ...(others.length > 0 && { others: others.map(({ text }) => text) }),
      } as const;
    }),
    catchError((error: unknown) =>
      throwError(() => (error instanceof FaultError ? error : routerFault(router, 'failed on the request', error))),
    ),
  );
};

/** As many destinations as a rule may have, and a reason that fits into a log line. */
const maxDestinations = 20;
const maxReason = 200;

/** A module's answer: a destination, or several in the order in which they are tried, and why. `undefined`: anything else. */
const chosenBy = (answer: unknown): { readonly to: readonly string[]; readonly reason?: string } | undefined => {
  if (typeof answer === 'string') return { to: [answer] };
  if (!isJsonObject(answer)) return undefined;
  const { to, reason } = answer;
  const list: readonly unknown[] = Array.isArray(to) ? to : [to];
  const texts = list.filter((one): one is string => typeof one === 'string' && one.trim() !== '');
  const isReason = reason === undefined || typeof reason === 'string';
  if (texts.length !== list.length || texts.length > maxDestinations || !isReason) return undefined;
  return { to: texts, ...(reason !== undefined && { reason }) };
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
    case 'older':
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

const olderQuestionOf = (decoded: Decoded, gateway: Gateway): Observable<OlderQuestion> => {
  const { request, client } = decoded;
  const { registry, tokens } = gateway;
  const context = {
    names: new ToolNames(),
    losses: new Losses(client.wire),
    replyIsRelayed: false,
    client: client.wire,
  };
  // Parsed again, since a module may change it.
  const { olderRouters } = registry;
  const body: JsonObject =
    client.wire === olderRouters?.wire
      ? JSON.parse(clientText(decoded))
      : (olderRouters?.encodeRequest(request, context) ?? {});
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
