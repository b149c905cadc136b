import { globMatcher } from '../../config/glob.ts';
import type { When } from '../../config/rule-schema.ts';
import { quoted } from '../../model/fault.ts';
import { askedEffort, type Tool } from '../../model/request.ts';
import { memberPath } from '../../model/schema.ts';
import { formatCount, holdsImage, isWebSearch, nameOf, wantsVerdicts } from '../scenarios.ts';
import { type Decides, decidedText, decidesOf, decidesText } from './decisions.ts';
import { agentHint, type RequestFacts, trajectoryOf } from './request-facts.ts';

/** Whether something holds; `undefined`: it depends on the token count, or on a model that isn't asked yet. */
type Verdict = boolean | undefined;

/** A compiled condition. */
export type Condition = Fact | Joined | Negated;

interface Fact {
  readonly type: 'fact';
  /** Its path in the condition: `any[0].model`. */
  readonly at: string;
  /** The requirement, for users; contains no text of a request. */
  readonly label: string;
  readonly test: (facts: RequestFacts) => Verdict;
  /** Its question to a model. */
  readonly decides?: Decides;
}

interface Joined {
  readonly type: 'all' | 'any';
  readonly of: readonly Condition[];
}

interface Negated {
  readonly type: 'not';
  readonly of: Condition;
}

/** Whether a condition holds; `undefined` if it depends on the token count, or on a model that isn't asked yet. */
export const holds = (condition: Condition, facts: RequestFacts): Verdict => {
  switch (condition.type) {
    case 'fact':
      return condition.test(facts);
    case 'not': {
      const verdict = holds(condition.of, facts);
      return verdict === undefined ? undefined : !verdict;
    }
    case 'all':
    case 'any': {
      const decisive = condition.type === 'any';
      const asked = facts.decisions?.open;
      let open = false;
      for (const one of condition.of) {
        const verdict = holds(one, facts);
        if (verdict === decisive) {
          // Questions of the members before it don't matter.
          if (facts.decisions) facts.decisions.open = asked;
          return decisive;
        }
        open ||= verdict === undefined;
      }
      return open ? undefined : !decisive;
    }
    default:
      return condition satisfies never;
  }
};

/** Why a condition that holds does so, for users; empty if it requires nothing. */
export const explainCondition = (condition: Condition, facts: RequestFacts): string => {
  switch (condition.type) {
    case 'fact':
      return explainFact(condition, facts);
    case 'not':
      return `not (${statement(condition.of)})`;
    case 'any':
      return explainCondition(condition.of.find((one) => holds(one, facts)) ?? condition, facts);
    case 'all':
      return condition.of
        .map((one) => explainCondition(one, facts))
        .filter((reason) => reason !== '')
        .join(', ');
    default:
      return condition satisfies never;
  }
};

const explainFact = ({ label, decides }: Fact, { decisions }: RequestFacts): string => {
  const decided = decides && decisions?.known(decides);
  return decided ? decidedText(decides, decided) : label;
};

/** Whether a fact holds, as a dry run knows it: null if it depends on a count or on a model that wasn't asked. */
export const shownVerdict = ({ test, decides }: Fact, facts: RequestFacts): boolean | null => {
  const decided = decides && facts.decisions?.known(decides);
  return decided?.type === 'none' && !decided.isAsked ? null : (test(facts) ?? null);
};

/** A condition's requirement, for users. */
export const statement = (condition: Condition): string => {
  switch (condition.type) {
    case 'fact':
      return condition.label;
    case 'not':
      return `not (${statement(condition.of)})`;
    case 'all':
    case 'any':
      return condition.of.map(statement).join(condition.type === 'all' ? ', ' : ' or ') || 'any request';
    default:
      return condition satisfies never;
  }
};

/** The facts of a condition, in order. */
export const factsIn = (condition: Condition): readonly Fact[] => {
  switch (condition.type) {
    case 'fact':
      return [condition];
    case 'not':
      return factsIn(condition.of);
    case 'all':
    case 'any':
      return condition.of.flatMap(factsIn);
    default:
      return condition satisfies never;
  }
};

/** Whether a condition may ask a model. */
export const asksModels = (condition: Condition): boolean =>
  factsIn(condition).some(({ decides }) => decides !== undefined);

/** Compiles a condition, which the configuration's checks have passed. `owner`: whose it is, for what it asks. */
export const compileCondition = (when: When, at = '', owner = ''): Condition => {
  const path = (name: string): string => memberPath(at, name);
  const { all, any, not } = when;
  const joined = (name: 'all' | 'any', list: readonly When[]): Condition => ({
    type: name,
    of: list.map((one, index) => compileCondition(one, memberPath(path(name), index), owner)),
  });
  const parts: readonly Condition[] = [
    ...factNames.flatMap((name) => compileFact(name, when, path(name), owner)),
    ...(all ? [joined('all', all)] : []),
    ...(any ? [joined('any', any)] : []),
    ...(not ? [{ type: 'not', of: compileCondition(not, path('not'), owner) } as const] : []),
  ];
  const [only] = parts;
  return only && parts.length === 1 ? only : { type: 'all', of: parts };
};

type FactName = Exclude<keyof When, 'all' | 'any' | 'not'>;
type Part = Pick<Fact, 'label' | 'test' | 'decides'> & { readonly member?: string };

const compileFact = (name: FactName, when: When, at: string, owner: string): readonly Fact[] =>
  compilers[name](when, owner).map(({ member, ...part }) => ({
    type: 'fact',
    at: member === undefined ? at : memberPath(at, member),
    ...part,
  }));

type FactCompiler = (when: When, owner: string) => readonly Part[];

/** A fact whose value is one or more globs, compared with one or more texts of a request. */
const byGlobs =
  (
    name: Extract<
      FactName,
      'path' | 'preset' | 'key' | 'model' | 'tools' | 'requestClass' | 'agentType' | 'compaction' | 'lastTool'
    >,
    title: string,
    textsOf: (facts: RequestFacts) => string | undefined | readonly string[],
  ): FactCompiler =>
  ({ [name]: value }) =>
    value === undefined ? [] : [globPart(title, value, textsOf)];

const globPart = (
  title: string,
  value: string | readonly string[],
  textsOf: (facts: RequestFacts) => string | undefined | readonly string[],
): Part => {
  const globs = typeof value === 'string' ? [value] : value;
  const matchers = globs.map((glob) => globMatcher(glob.toLowerCase()));
  const matches = (text: string): boolean => {
    const lower = text.toLowerCase();
    return matchers.some((match) => match(lower));
  };
  return {
    label: `${title} is ${globs.join(' or ')}`,
    test(facts) {
      const texts = textsOf(facts);
      if (texts === undefined) return false;
      return typeof texts === 'string' ? matches(texts) : texts.some(matches);
    },
  };
};

const byFlag =
  (
    name: 'images' | 'webSearch' | 'safeguards' | 'reasoning' | 'repeatedCall',
    titles: readonly [string, string],
    test: (facts: RequestFacts) => boolean,
  ): FactCompiler =>
  ({ [name]: wanted }) =>
    wanted === undefined ? [] : [{ label: wanted ? titles[0] : titles[1], test: (facts) => test(facts) === wanted }];

/** Compares a number with bounds. `isOver` tells whether it is over a bound, if that is known. */
const byRange =
  (name: 'tokens' | 'turns' | 'sinceUser', isOver: (facts: RequestFacts, bound: number) => Verdict): FactCompiler =>
  ({ [name]: range }) => {
    const { over, under } = range ?? {};
    return [
      ...(over === undefined
        ? []
        : [
            {
              member: 'over',
              label: `${name} > ${formatCount(over)}`,
              test: (facts: RequestFacts) => isOver(facts, over),
            },
          ]),
      ...(under === undefined
        ? []
        : [
            {
              member: 'under',
              label: `${name} < ${formatCount(under)}`,
              test(facts: RequestFacts): Verdict {
                const verdict = isOver(facts, under - 1);
                return verdict === undefined ? undefined : !verdict;
              },
            },
          ]),
    ];
  };

const compilers: Readonly<Record<FactName, FactCompiler>> = {
  client({ client }) {
    if (client === undefined) return [];
    const wires = typeof client === 'string' ? [client] : client;
    return [{ label: `client is ${wires.join(' or ')}`, test: (facts) => wires.includes(facts.client.wire) }];
  },
  path: byGlobs('path', 'path', ({ origin }) => origin.path),
  preset: byGlobs('preset', 'preset', ({ origin }) => origin.preset),
  headers({ headers = {} }) {
    return Object.entries(headers).map(([name, value]) => {
      const lower = name.toLowerCase();
      const part: Part =
        typeof value === 'boolean'
          ? {
              label: `header ${lower} is ${value ? 'present' : 'absent'}`,
              test: ({ header }) => (header(lower) !== undefined) === value,
            }
          : globPart(`header ${lower}`, value, ({ header }) => header(lower));
      return { ...part, member: name };
    });
  },
  key: byGlobs('key', 'key', ({ origin }) => origin.key),
  model: byGlobs('model', 'model', ({ request }) => request.model.trim()),
  tools: byGlobs('tools', 'a tool', ({ request }) => request.tools.map(toolName)),
  images: byFlag('images', ['an image', 'no image'], ({ request }) =>
    request.turns.some(({ parts }) => parts.some(holdsImage)),
  ),
  webSearch: byFlag('webSearch', ['a web search', 'no web search'], ({ request }) => request.tools.some(isWebSearch)),
  safeguards: byFlag('safeguards', ['safeguards asked for', 'no safeguards asked for'], ({ request }) =>
    wantsVerdicts(request),
  ),
  reasoning: byFlag('reasoning', ['reasoning asked for', 'no reasoning asked for'], ({ request }) => {
    const mode = request.reasoning?.mode;
    const effort = askedEffort(request);
    return mode !== 'off' && effort !== 'none' && (mode ?? effort) !== undefined;
  }),
  tokens: byRange('tokens', ({ sizeRelativeTo }, bound) => {
    const size = sizeRelativeTo(bound);
    return size && size.tokens > bound;
  }),
  turns: byRange('turns', ({ request }, bound) => userTurns(request.turns) > bound),
  toolErrors({ toolErrors }) {
    if (toolErrors === undefined) return [];
    const { last, over } = toolErrors;
    return [
      {
        label: `errors among the last ${formatCount(last)} tool results > ${formatCount(over)}`,
        test: (facts) => trajectoryOf(facts).toolErrors(last) > over,
      },
    ];
  },
  repeatedCall: byFlag(
    'repeatedCall',
    ['the last call repeats an earlier one', 'the last call repeats none'],
    (facts) => trajectoryOf(facts).repeats > 1,
  ),
  sinceUser: byRange('sinceUser', (facts, bound) => trajectoryOf(facts).sinceUser > bound),
  lastTool: byGlobs('lastTool', 'the last tool', (facts) => trajectoryOf(facts).lastTool),
  system({ system }) {
    if (system === undefined) return [];
    const texts = typeof system === 'string' ? [system] : system;
    return [
      {
        label: `system prompt has ${texts.map(quoted).join(' or ')}`,
        test: ({ request }) => request.system.some(({ text }) => texts.some((part) => text.includes(part))),
      },
    ];
  },
  time({ time }) {
    if (time === undefined) return [];
    const { from, to, zone } = time;
    const clock = new Intl.DateTimeFormat('en-GB', {
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      ...(zone !== undefined && { timeZone: zone }),
    });
    return [
      {
        label: `time is ${from} to ${to}${zone === undefined ? '' : ` in ${zone}`}`,
        test({ atMs }) {
          const now = clock.format(atMs);
          return from < to ? from <= now && now < to : from <= now || now < to;
        },
      },
    ];
  },
  requestClass: byGlobs('requestClass', 'request class', (facts) => agentHint(facts.client, facts, 'requestClass')),
  agentType: byGlobs('agentType', 'agent type', (facts) => agentHint(facts.client, facts, 'agentType')),
  compaction: byGlobs('compaction', 'compaction', (facts) => agentHint(facts.client, facts, 'compaction')),
  decides({ decides: given }, owner) {
    if (given === undefined) return [];
    const decides = decidesOf(given, owner);
    return [{ label: decidesText(decides), decides, test: ({ decisions }) => decisions?.verdict(decides) }];
  },
};

const factNames = Object.keys(compilers).filter((name): name is FactName => name in compilers);

const toolName = (tool: Tool): string => {
  const name = nameOf(tool);
  if (typeof name === 'string') return name;
  return tool.type === 'hosted' ? tool.kind : '';
};

/** Adjacent turns of the user count once, as in the scenarios. */
const userTurns = (turns: RequestFacts['request']['turns']): number => {
  let count = 0;
  let isUsers = false;
  for (const { role } of turns) {
    if (role === 'user' && !isUsers) count += 1;
    if (role !== 'system') isUsers = role === 'user';
  }
  return count;
};
