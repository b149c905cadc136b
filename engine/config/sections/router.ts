import { isDeepStrictEqual } from 'node:util';
import { memberPath } from '../../model/schema.ts';
import { type FallbackRule, fallbackRules, type RouterConfig, type Scenario, scenarios } from '../config.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { UnsetReference } from '../env.ts';
import type { RuleFile } from '../rule-schema.ts';
import type { FallbackFile, RouterFile } from '../schema.ts';
import { checkDestination, type DestinationList } from './check-destination.ts';
import { readRules } from './rules.ts';
import type { SourceItem } from './transformers.ts';

/** Reads `Router`, and `fallback` in the older spelling. A blank destination counts as absent. */
export const readRouter = (
  source: RouterFile,
  rules: readonly SourceItem<RuleFile>[],
  olderFallback: FallbackFile,
  list: DestinationList,
  unset: readonly UnsetReference[],
  findings: Diagnostics,
): RouterConfig => {
  const unsetAt = new Set(unset.map(({ path }) => path));
  const destination = (path: string, text: string | undefined): string | undefined => {
    if (unsetAt.has(path) || text === undefined || text.trim() === '') return undefined;
    checkDestination(path, text, list, findings);
    return text.trim();
  };
  const route = (scenario: Scenario): string | undefined => {
    const listed = destination(`Router.routes.${scenario}`, source.routes?.[scenario]);
    const direct = destination(`Router.${scenario}`, source[scenario]);
    if (listed !== undefined && direct !== undefined && listed !== direct) {
      findings.warn(`Router.${scenario}`, `has no effect: Router.routes.${scenario} is set too`);
    }
    return listed ?? direct;
  };
  const destinations = (at: string, texts: readonly string[] | undefined): readonly string[] | undefined =>
    texts?.flatMap((text, index) => destination(memberPath(at, index), text) ?? []);
  const fallbacks = (rule: FallbackRule): readonly string[] => {
    const listed = destinations(`Router.fallback.${rule}`, source.fallback?.[rule]);
    const older = destinations(`fallback.${rule}`, olderFallback[rule]);
    if (listed && older && !isDeepStrictEqual(listed, older)) {
      findings.warn(`fallback.${rule}`, `has no effect: Router.fallback.${rule} is set too`);
    }
    return listed ?? older ?? [];
  };
  const fallback: Partial<Record<FallbackRule, readonly string[]>> = {};
  for (const rule of fallbackRules) {
    const texts = fallbacks(rule);
    if (texts.length > 0) fallback[rule] = texts;
  }
  const routes: Partial<Record<Scenario, string>> = {};
  for (const scenario of scenarios) {
    const text = route(scenario);
    if (text !== undefined) routes[scenario] = text;
  }
  const module = readModule(source.module);
  const own = readRules(rules, destination, findings);
  return {
    default: destination('Router.default', source.default),
    ...(source.longContextThreshold !== undefined && { longContextThreshold: source.longContextThreshold }),
    ...(source.compactPrompt !== undefined &&
      source.compactPrompt.trim() !== '' && { compactPrompt: source.compactPrompt }),
    routes,
    fallback,
    ...(own.length > 0 && { rules: own }),
    ...(module !== undefined && { module }),
  };
};

/** Reads `Router.module`. A blank path counts as absent. */
const readModule = (source: RouterFile['module']): RouterConfig['module'] => {
  if (source === undefined) return undefined;
  const { path, form = 'question' } = typeof source === 'string' ? { path: source } : source;
  return path.trim() === '' ? undefined : { path: path.trim(), form };
};
