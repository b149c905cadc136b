import { answersFault, usualAnswer, yesOrNo } from '../../model/decision.ts';
import { memberPath } from '../../model/schema.ts';
import { isSecretParameter } from '../../observe/log/mask-text.ts';
import { closeNames, type Diagnostics, unknownMembers } from '../diagnostics.ts';
import { agentClasses, factFields, joins, type When } from '../rule-schema.ts';
import { headerName } from './call-extras.ts';
import { neverHolds } from './rule-logic.ts';

/** Reports unknown members as faults: a condition without them would match more requests than meant. */
export const refuseUnknown = (value: object, known: readonly string[], at: string, findings: Diagnostics): void => {
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

/** Checks a destination, not blank, at a path. */
type CheckDestination = (path: string, text: string) => unknown;

/**
 * Checks what the schema of a condition can't express. Returns whether it may hold, and warns if it never does; `undefined`: it is too
 * large to look at. Without `destination`, it may not ask: only the configuration gives leave to that.
 */
export const checkCondition = (
  when: When,
  at: string,
  findings: Diagnostics,
  destination?: CheckDestination,
): boolean | undefined => {
  if (sizeOf(when) > maxConditions) {
    findings.fault(at, `has more than ${maxConditions} facts and joins`);
    return undefined;
  }
  checkMembers(when, at, findings, destination);
  const never = neverHolds(when);
  if (never !== undefined) findings.warn(at, `never holds: ${never}`);
  return never === undefined;
};

const checkMembers = (when: When, at: string, findings: Diagnostics, destination?: CheckDestination): void => {
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
      checkMembers(inner, memberPath(`${at}.${name}`, index), findings, destination);
    }
  }
  if (when.decides) checkDecides(when.decides, `${at}.decides`, findings, destination);
  if (when.not) checkMembers(when.not, `${at}.not`, findings, destination);
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

const checkDecides = (
  { ask, question, answers, answer, atLeast: _, limitMs: __, otherwise: ___, ...rest }: NonNullable<When['decides']>,
  at: string,
  findings: Diagnostics,
  destination: CheckDestination | undefined,
): void => {
  for (const name of Object.keys(rest)) findings.fault(memberPath(at, name), 'is unknown');
  if (!destination) findings.fault(at, "belongs in the configuration: a module's own condition can't ask");
  else if (ask.trim() === '') findings.fault(`${at}.ask`, 'must not be blank');
  else destination(`${at}.ask`, ask);
  if (question.trim() === '') findings.fault(`${at}.question`, 'must not be blank');
  const fault = answers && answersFault(answers);
  if (fault !== undefined) findings.fault(`${at}.answers`, fault);
  const chosen = answers ?? yesOrNo;
  if (answer === undefined ? !chosen.includes(usualAnswer) : !chosen.includes(answer)) {
    findings.fault(`${at}.answer`, `must be one of ${chosen.map((one) => JSON.stringify(one)).join(', ')}`);
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
