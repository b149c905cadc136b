import { memberPath } from '../../model/schema.ts';
import type { RouteRule } from '../config.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { RuleFile, type When } from '../rule-schema.ts';
import { checkCondition, refuseUnknown } from './check-condition.ts';
import { isPlainName } from './clients.ts';
import { alwaysHolds, shadows } from './rule-logic.ts';
import type { SourceItem } from './transformers.ts';

/** Checks a destination and returns it trimmed; `undefined` if it is blank or refers to an unset variable. */
type ReadDestination = (path: string, text: string | undefined) => string | undefined;

/**
 * Reads `Router.rules`, which match their schema. Unknown members are faults, since a condition without them would match more
 * requests than meant. A rule that can never match is a warning.
 */
export const readRules = (
  rules: readonly SourceItem<RuleFile>[],
  destination: ReadDestination,
  findings: Diagnostics,
): readonly RouteRule[] => {
  const names = new Map<string, string>();
  const earlier: { readonly name: string; readonly when: When }[] = [];
  return rules.flatMap(({ at, row: rule }) => {
    const { name, when, to, hold } = rule;
    refuseUnknown(rule, Object.keys(RuleFile.properties), at, findings);
    if (!isPlainName(name)) {
      findings.fault(`${at}.name`, 'must be 1 to 64 letters, digits, dots, hyphens or underscores');
    }
    const same = names.get(name.toLowerCase());
    if (same !== undefined) findings.fault(`${at}.name`, `is the name of ${same} too`);
    names.set(name.toLowerCase(), at);
    const holds = checkCondition(when, `${at}.when`, findings, destination);
    if (holds === undefined) return [];
    const before = holds ? earlier.find((one) => shadows(one.when, when)) : undefined;
    if (before) {
      const always = alwaysHolds(before.when) ? 'which matches every request' : 'which matches all of its requests';
      findings.warn(at, `is never reached: it comes after ${before.name}, ${always}`);
    }
    earlier.push({ name, when });
    const texts = typeof to === 'string' ? [to] : to;
    const [first, ...rest] = texts.flatMap((text, number) => {
      const path = typeof to === 'string' ? `${at}.to` : memberPath(`${at}.to`, number);
      if (text.trim() === '') findings.fault(path, 'must not be blank');
      return destination(path, text) ?? [];
    });
    return first === undefined ? [] : [{ name, when, to: [first, ...rest], ...(hold && { hold }) }];
  });
};
