import { memberPath } from '../../model/schema.ts';
import { isSecretParameter } from '../../observe/log/mask-text.ts';
import type { RouteRule } from '../config.ts';
import { closeNames, type Diagnostics, unknownMembers } from '../diagnostics.ts';
import { headerName } from './call-extras.ts';
import { isPlainName } from './clients.ts';
import { alwaysHolds, neverHolds, shadows } from './rule-logic.ts';
import { agentClasses, factFields, joins, RuleFile, type When } from './rule-schema.ts';
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
    if (sizeOf(when) > maxConditions) {
      findings.fault(`${at}.when`, `has more than ${maxConditions} facts and joins`);
      return [];
    }
    checkCondition(when, `${at}.when`, findings);
    const never = neverHolds(when);
    const before = never === undefined ? earlier.find((one) => shadows(one.when, when)) : undefined;
    if (never !== undefined) findings.warn(`${at}.when`, `never holds: ${never}`);
    else if (before) {
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

const refuseUnknown = (value: object, known: readonly string[], at: string, findings: Diagnostics): void => {
  for (const { path, message } of unknownMembers({ ...value }, known, at)) findings.fault(path, message);
};

/** Facts and joins of a condition, at most: rules are compared with each other. */
const maxConditions = 100;

const sizeOf = (when: When): number =>
  Object.keys(when).length +
  [...(when.all ?? []), ...(when.any ?? []), ...(when.not ? [when.not] : [])].reduce(
    (sum, one) => sum + sizeOf(one),
    0,
  );

const members = [...Object.keys(factFields), ...joins];

/** Checks what the schema of a condition can't express. */
const checkCondition = (when: When, at: string, findings: Diagnostics): void => {
  refuseUnknown(when, members, at, findings);
  for (const name of globFacts) {
    const globs = when[name];
    if (globs !== undefined) checkTexts(globs, `${at}.${name}`, findings, globFault);
  }
  if (when.system !== undefined) checkTexts(when.system, `${at}.system`, findings, textFault);
  if (when.requestClass !== undefined) warnOfUnknownClass(when.requestClass, `${at}.requestClass`, findings);
  for (const [name, value] of Object.entries(when.headers ?? {})) {
    const path = memberPath(`${at}.headers`, name);
    if (!headerName.test(name)) findings.fault(path, 'is not the name of a header');
    else if (isSecretParameter(name)) findings.fault(path, 'may hold a secret; `key` tells clients apart');
    if (typeof value !== 'boolean') checkTexts(value, path, findings, globFault);
  }
  if (when.toolErrors) checkToolErrors(when.toolErrors, `${at}.toolErrors`, findings);
  for (const name of ['tokens', 'turns', 'sinceUser'] as const) {
    const range = when[name];
    if (!range) continue;
    refuseUnknown(range, ['over', 'under'], `${at}.${name}`, findings);
    if (range.over === undefined && range.under === undefined) {
      findings.fault(`${at}.${name}`, 'must have `over` or `under`');
    }
  }
  if (when.time) checkTime(when.time, `${at}.time`, findings);
  for (const name of ['all', 'any'] as const) {
    const list = when[name];
    if (list?.length === 0) findings.fault(`${at}.${name}`, 'must not be empty');
    for (const [index, inner] of (list ?? []).entries()) {
      checkCondition(inner, memberPath(`${at}.${name}`, index), findings);
    }
  }
  if (when.not) checkCondition(when.not, `${at}.not`, findings);
};

/** The facts whose values are globs. */
const globFacts = [
  'path',
  'preset',
  'key',
  'model',
  'tools',
  'requestClass',
  'agentType',
  'compaction',
  'lastTool',
] as const;

const checkTexts = (
  value: string | readonly string[],
  at: string,
  findings: Diagnostics,
  faultOf: (text: string) => string | undefined,
): void => {
  const isList = typeof value !== 'string';
  for (const [index, text] of (isList ? value : [value]).entries()) {
    const fault = faultOf(text);
    if (fault !== undefined) findings.fault(isList ? memberPath(at, index) : at, fault);
  }
};

const maxText = 500;

const textFault = (text: string): string | undefined => {
  if (text.trim() === '') return 'must not be blank';
  return text.length > maxText ? `must have at most ${maxText} characters` : undefined;
};

const globFault = (glob: string): string | undefined =>
  textFault(glob) ?? (glob.includes('**') ? 'must not have `**`: one `*` stands for any characters' : undefined);

/** New classes may come with new releases of agents, so only probable typos cause a warning. */
const warnOfUnknownClass = (value: string | readonly string[], at: string, findings: Diagnostics): void => {
  for (const name of typeof value === 'string' ? [value] : value) {
    const [close] = closeNames(name, agentClasses);
    if (close !== undefined && close !== name.toLowerCase()) {
      findings.warn(at, `names the unknown class ${JSON.stringify(name)}; did you mean ${close}?`);
    }
  }
};

const checkToolErrors = (
  { last, over, ...rest }: NonNullable<When['toolErrors']>,
  at: string,
  findings: Diagnostics,
): void => {
  refuseUnknown(rest, ['last', 'over'], at, findings);
  if (over >= last) findings.warn(`${at}.over`, `never holds: of ${last} results, no more than ${last} are errors`);
};

const checkTime = ({ from, to, zone, ...rest }: NonNullable<When['time']>, at: string, findings: Diagnostics): void => {
  refuseUnknown(rest, ['from', 'to', 'zone'], at, findings);
  for (const [name, text] of Object.entries({ from, to })) {
    if (!isTimeOfDay(text)) findings.fault(`${at}.${name}`, 'must be a time of day such as 09:30');
  }
  if (isTimeOfDay(from) && from === to) findings.fault(`${at}.to`, 'must differ from `from`');
  if (zone === undefined || isTimeZone(zone)) return;
  const close = closeNames(zone, Intl.supportedValuesOf('timeZone'));
  findings.fault(`${at}.zone`, `isn't a time zone${close.length > 0 ? `; did you mean ${close.join(' or ')}?` : ''}`);
};

const isTimeOfDay = (text: string): boolean => /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text);

const isTimeZone = (zone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
};
