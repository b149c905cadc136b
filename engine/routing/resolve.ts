import { type Config, type Scenario, scenarios } from '../config/config.ts';
import {
  type Destination,
  findDestination,
  findPool,
  findProvider,
  listsModel,
  parseDestination,
  poolDestination,
  providersOf,
} from '../config/sections/destination.ts';
import { fail } from '../model/fault.ts';
import type { ModelRequest, TextPart } from '../model/request.ts';
import { BoundedMap, memoize } from '../runtime/memoize.ts';
import { aliasDestination, destinationName } from './model-names.ts';
import { noMember, unknownModel, unknownProvider } from './no-route.ts';
import type { OwnRoute, RuleResult } from './rules/rules.ts';
import { type LongContext, longContextFor, rules } from './scenarios.ts';
import type { PromptSize } from './tokens/prompt-tokens.ts';

/** The destination of a request, with the upstream's name of the model, and why it was chosen. */
export interface Resolution extends Destination {
  /**
   * The rule that decided: an explicit `provider,model`, a tag, a rule of the user's own, a scenario, the default, or the only
   * provider's list with the model.
   */
  readonly scenario: 'explicit' | 'tag' | 'default' | 'model' | Scenario | OwnRoute['scenario'];
  /** Further destinations that the router module named, for when this one fails. */
  readonly others?: readonly string[] | undefined;
  /** The rule and its reason, for users: `longContext: 81,230 tokens > 60,000`. */
  readonly reason: string;
  /** The request's tokens, if a rule needed an exact count. */
  readonly tokens: number | undefined;
  /** The request with the chosen model, without tags. */
  readonly request: ModelRequest;
  /** A tag was removed, so the client's bytes can't be relayed. */
  readonly tagged: boolean;
  readonly warnings: readonly string[];
}

/** A rule's result. */
interface Choice extends Destination {
  readonly scenario: Resolution['scenario'];
  readonly reason: string;
  readonly others?: readonly string[];
}

/** The size of an empty request. */
export const emptyPromptSize: PromptSize = { tokens: 0, by: 'bound' };

/** Whether the client names the destination, by the model or a tag, so that no rule or scenario matters. */
export const namesDestination = (asked: ModelRequest, config: Config): boolean =>
  asked.model.includes(',') ||
  findPool(config.pools, asked.model) !== undefined ||
  extractModelTag(asked).destination !== undefined ||
  aliasDestination(asked.model, config) !== undefined;

/** Whether the token count may decide the scenario: the client names no destination, and `longContext` has a route. */
export const needsTokenCount = (asked: ModelRequest, config: Config): boolean =>
  config.router.routes.longContext !== undefined && !namesDestination(asked, config);

/** A route's inputs besides the request. */
interface RouteHints {
  /** The result of the user's own rules. */
  readonly own?: RuleResult | undefined;
  /** The request class that an agent declares. */
  readonly requestClass?: string | undefined;
  /** Absent: no window is known. */
  readonly longContext?: LongContext | undefined;
}

const noHints: RouteHints = {};

/** The threshold that the configuration sets, or else the usual one. */
const configured = ({ router }: Config): LongContext =>
  router.longContextThreshold === undefined ? longContextFor([]) : { threshold: router.longContextThreshold };

/**
 * Resolves a request's destination: an explicit `provider,model` or pool, else a tag, else the user's own rules, else the first matching
 * scenario with a route, else the default, else the only provider that lists the model. `size` is needed if `needsTokenCount`: exact, or a bound on the same
 * side of the threshold. Throws `invalid-request` for a blank model and `no-route` if no destination is found.
 */
export const resolveRoute = (
  asked: ModelRequest,
  config: Config,
  size: PromptSize = emptyPromptSize,
  { own, requestClass, longContext } = noHints,
): Resolution => {
  const untagged = extractModelTag(asked);
  const { request } = untagged;
  const warnings: string[] = own ? [...own.warnings] : [];
  const { provider, model, pool, scenario, reason, others } =
    explicitly(request.model, config, untagged, warnings) ??
    byTag(untagged, config) ??
    own?.route ??
    byScenario(request, config, size, { requestClass, longContext }, warnings) ??
    byDefault(request, config, warnings) ??
    byModel(request.model, config);
  if (!pool && !listsModel(provider, model)) warnings.push(`provider ${provider.name} doesn't list the model ${model}`);
  return {
    provider,
    model,
    pool,
    scenario,
    reason,
    others,
    tokens: size.by === 'count' ? size.tokens : undefined,
    request: request.model === model ? request : { ...request, model },
    tagged: request !== asked,
    warnings,
  };
};

const explicitly = (
  text: string,
  config: Config,
  { destination }: UntaggedRequest,
  warnings: string[],
): Choice | undefined => {
  // The client's protocol lets requests name no model: the rules decide.
  if (text === '') return undefined;
  if (text.trim() === '') return fail('invalid-request', 'model must not be blank.', { param: 'model' });
  const named = explicitChoice(text, config);
  if (named && destination !== undefined) {
    const kind = named.pool ? 'pool' : 'provider';
    warnings.push(`the tag for ${destination} has no effect: the model names a ${kind}`);
  }
  return named;
};

/** The destination that the model asked for names; `undefined` for a bare model. Looked up once per name. */
const explicitChoice = (text: string, config: Config): Choice | undefined => {
  const { known, choose } = explicitChoices(config);
  return (text.length > maxKnownChars ? choose(text) : known.remember(text, choose)) ?? undefined;
};

const explicitChoices = memoize((config: Config) => ({
  known: new BoundedMap<string, Choice | null>(maxKnown),
  choose(text: string): Choice | null {
    const named = namedDestination(text, config, 'model') ?? poolNamed(text, config) ?? aliasDestination(text, config);
    return named ? { ...named, scenario: 'explicit', reason: explicitReason(named) } : null;
  },
}));

const explicitReason = (named: Destination): string => `explicit: the model asked for is ${nameOf(named)}`;

/** Names kept per configuration, and characters of each. Bounds, since clients choose them. */
const maxKnown = 1_000;
const maxKnownChars = 256;

const nameOf = (destination: Destination): string =>
  `${destination.pool ? 'the pool ' : ''}${destinationName(destination)}`;

const poolNamed = (text: string, { pools, providers }: Config): Destination | undefined => {
  const pool = findPool(pools, text);
  return pool && poolDestination(pool, providers, undefined);
};

const byTag = ({ destination, at }: UntaggedRequest, config: Config): Choice | undefined => {
  if (destination === undefined) return undefined;
  const found = namedDestination(destination, config, at) ?? findDestination(config, destination);
  if (!found) return unknownModel(destination, config, at);
  return { ...found, scenario: 'tag', reason: `tag: the system prompt names ${nameOf(found)}` };
};

/** The destination that `provider,model` names; `undefined` for a bare model. */
const namedDestination = (text: string, { providers }: Config, at: string): Destination | undefined => {
  const named = parseDestination(text);
  if (!named) return undefined;
  if (named.provider === '' || named.model === '') {
    return fail('invalid-request', `${at} must name a provider and a model, as in \`provider,model\`.`, { param: at });
  }
  const provider = findProvider(providers, named.provider);
  return provider ? { provider, model: named.model } : unknownProvider(named, providers, at);
};

const byScenario = (
  request: ModelRequest,
  config: Config,
  { tokens, by }: PromptSize,
  { requestClass, longContext = configured(config) }: RouteHints,
  warnings: string[],
): Choice | undefined => {
  const { router } = config;
  const facts = { tokens, by, requestClass, longContext };
  for (const scenario of scenarios) {
    const route = router.routes[scenario];
    if (route === undefined) continue;
    const why = rules[scenario](request, facts);
    if (why === undefined) continue;
    const found = findDestination(config, route, request.model);
    if (found) return { ...found, scenario, reason: `${scenario}: ${why}` };
    warnings.push(`the route ${scenario} leads ${nowhere(route, config)}`);
  }
  return undefined;
};

const byDefault = ({ model }: ModelRequest, config: Config, warnings: string[]): Choice | undefined => {
  const { router, pools } = config;
  if (router.default === undefined) return undefined;
  const found = findPool(pools, router.default) ? defaultFor(config, model) : fixedDefault(config);
  if (!found) warnings.push(`Router.default leads ${nowhere(router.default, config)}`);
  return found ?? undefined;
};

const defaultFor = (config: Config, model: string | undefined): Choice | null => {
  const found = findDestination(config, config.router.default ?? '', model);
  return found ? { ...found, scenario: 'default', reason: 'default: no scenario with a route fits' } : null;
};

/** The default that is no pool, and the same for all models. */
const fixedDefault = memoize((config: Config) => defaultFor(config, undefined));

const nowhere = (route: string, { pools }: Config): string =>
  findPool(pools, route) ? `to the pool ${route}, which has no member for this model` : `nowhere: ${route}`;

const byModel = (text: string, config: Config): Choice => {
  const model = text.trim();
  if (model === '') {
    const why = 'model is required: no rule chooses one. Ask for `provider,model`, or set Router.default.';
    return fail('no-route', why, { param: 'model' });
  }
  const [provider, ...others] = providersOf(config.providers, model);
  if (!provider || others.length > 0) {
    const pool = findPool(config.pools, config.router.default ?? '');
    return pool ? noMember(pool, model) : unknownModel(model, config, 'model');
  }
  return { provider, model, scenario: 'model', reason: `model: only ${provider.name} lists ${model}` };
};

/** A request without its model tags. */
interface UntaggedRequest {
  /** The text of the first non-empty tag; `undefined` if there is none. */
  readonly destination: string | undefined;
  /** The path of the first tag, in the client's field names. */
  readonly at: string;
  /** The same request object if there is no tag. */
  readonly request: ModelRequest;
}

/**
 * Removes `<JUNCTOR-MODEL>provider,model</JUNCTOR-MODEL>` from the system prompt, also under claude-code-router's name
 * `CCR-SUBAGENT-MODEL`. Texts that become empty are removed too, since vendors refuse them.
 */
export const extractModelTag = (request: ModelRequest): UntaggedRequest => {
  if (!request.system.some(isTagged)) return { destination: undefined, at: 'system', request };
  const system: TextPart[] = [];
  let destination: string | undefined;
  let at: string | undefined;
  for (const part of request.system) {
    if (!isTagged(part)) {
      system.push(part);
      continue;
    }
    const text = part.text.replace(tag, (_, _name, named: string) => {
      at ??= part.at;
      destination ??= named.trim() || undefined;
      return '';
    });
    if (text.trim() === '') moveCacheMark(part, system);
    else system.push({ ...part, text });
  }
  return { destination, at: at ?? 'system', request: { ...request, system } };
};

const tag = /<(JUNCTOR-MODEL|CCR-SUBAGENT-MODEL)>([^<]*)<\/\1>/g;

/** Searches for a fixed text first, which is faster: prompts are long, and few have a tag. */
const isTagged = ({ text }: TextPart): boolean => text.includes('-MODEL>') && text.search(tag) >= 0;

/** Moves the cache mark of a removed text to the text before it. */
const moveCacheMark = ({ cache }: TextPart, system: TextPart[]): void => {
  const last = system.pop();
  if (last) system.push(cache && !last.cache ? { ...last, cache } : last);
};
