import { type AST, parseRegExpLiteral, visitRegExpAST } from '@eslint-community/regexpp';

/** A text of any length: what stands in it once, and what is repeated to fill it. */
export type Attack = readonly (string | { readonly pump: string })[];

/** The text of an attack, of about so many characters; never longer. */
export const render = (attack: Attack, length: number): string => {
  const fixed = attack.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 0), 0);
  const pumps = attack.filter((part) => typeof part !== 'string').length;
  const room = Math.max(length - fixed, 0) / Math.max(pumps, 1);
  return attack
    .map((part) => (typeof part === 'string' ? part : part.pump.repeat(Math.floor(room / part.pump.length))))
    .join('');
};

/**
 * Texts that are hard for a pattern, derived from its syntax tree. A backtracking matcher takes more than linear time where two
 * repetitions, or a repetition and the search for a beginning, can divide the same characters among them in many ways, and what
 * follows fails. So for each repetition: what leads to it once, then characters that it takes, many times, then something that
 * fails; what leads to it many times; both in turn; and for each two repetitions, one behind the other. Characters are chosen
 * one for each set of the pattern's parts that take them, so an overlap of any two is met.
 */
export const attacksOn = (pattern: RegExp): readonly Attack[] => {
  const { pattern: tree } = parseRegExpLiteral(pattern);
  const letters = lettersOf(tree, pattern.flags);
  const repetitions = repetitionsIn(tree, letters);
  const ends = ['', letters.stranger, '\n'];
  const attacks: Attack[] = letters.all.flatMap((pump) => ends.map((end) => [{ pump }, end]));
  const add = (before: readonly (string | { readonly pump: string })[]): void => {
    for (const end of ends) attacks.push([...before, end]);
  };
  for (const start of samples(tree, letters)) if (start !== '') add([{ pump: start }]);
  for (const { lead, pumps, tail } of repetitions) {
    if (lead !== '') add([{ pump: lead }]);
    for (const pump of pumps) {
      add([lead, { pump }]);
      add([lead, { pump }, tail]);
      if (lead !== '') add([{ pump: lead + pump }]);
      if (tail !== '') add([lead, { pump: pump + tail }]);
    }
  }
  for (const [index, first] of repetitions.entries()) {
    for (const second of repetitions.slice(index + 1)) {
      const [one = ''] = first.pumps;
      for (const other of second.pumps.slice(0, 3)) {
        if (one !== '') add([first.lead, { pump: one }, rest(first.lead, second.lead), { pump: other }]);
        if (one !== '') add([first.lead, { pump: one + other }]);
      }
    }
  }
  const known = new Map(attacks.filter(isAttack).map((attack) => [JSON.stringify(attack), attack]));
  return [...known.values()].slice(0, mostAttacks);
};

const mostAttacks = 600;

const isAttack = (attack: Attack): boolean => attack.some((part) => typeof part !== 'string' && part.pump !== '');

/** What of `longer` isn't in `shorter` yet. */
const rest = (shorter: string, longer: string): string =>
  longer.startsWith(shorter) ? longer.slice(shorter.length) : longer;

interface Letters {
  /** One character for each set of parts that take it. */
  readonly all: readonly string[];
  /** The characters of `all` that a part takes. */
  readonly of: (node: AST.CharacterClass | AST.CharacterSet | AST.ExpressionCharacterClass) => readonly string[];
  /** A character that the fewest parts take. */
  readonly stranger: string;
}

const usual = [...'aZ0_- \t\n.:;,/\\"\'`=&<>()[]{}%$#@!?*+|^~é\u{1f600}\ud800\u0001'];

const lettersOf = (tree: AST.Pattern, flags: string): Letters => {
  const sets = new Map<string, (character: string) => boolean>();
  const pool = new Set(usual);
  const learn = (raw: string): void => {
    const own = new RegExp(`^(?:${raw})$`, flags.replace(/[gy]/g, ''));
    sets.set(raw, (character) => own.test(character));
  };
  visitRegExpAST(tree, {
    onCharacterEnter: ({ raw, value, parent }) => {
      pool.add(String.fromCodePoint(value));
      if (parent.type !== 'CharacterClass' && parent.type !== 'CharacterClassRange') learn(raw);
    },
    onCharacterClassEnter: ({ raw }) => learn(raw),
    onExpressionCharacterClassEnter: ({ raw }) => learn(raw),
    onCharacterSetEnter: ({ raw, parent }) => {
      if (parent.type !== 'CharacterClass') learn(raw);
    },
  });
  const tests = [...sets.values()];
  const bySignature = new Map<string, string>();
  for (const character of pool) {
    const signature = tests.map((takes) => (takes(character) ? '1' : '0')).join('');
    if (!bySignature.has(signature)) bySignature.set(signature, character);
  }
  const takers = ([signature]: readonly [string, string]): number => signature.replaceAll('0', '').length;
  const [fewest] = [...bySignature].sort((one, other) => takers(one) - takers(other));
  return {
    all: [...bySignature.values()],
    of: ({ raw }) => [...bySignature.values()].filter((character) => sets.get(raw)?.(character)),
    stranger: fewest?.[1] ?? '\u0001',
  };
};

interface Repetition {
  /** A text that leads to it from the pattern's beginning. */
  readonly lead: string;
  /** Texts that it takes once. */
  readonly pumps: readonly string[];
  /** A text that follows it in the pattern. */
  readonly tail: string;
}

/** From so many on, repeating counts: `{0,3}` isn't what makes a pattern slow. */
const manyTimes = 8;

const repetitionsIn = (tree: AST.Pattern, letters: Letters): readonly Repetition[] => {
  const found: Repetition[] = [];
  const visit = (alternatives: readonly AST.Alternative[], lead: string): void => {
    for (const { elements } of alternatives) {
      let before = lead;
      for (const [index, element] of elements.entries()) {
        const behind = elements.slice(index + 1);
        if (element.type === 'Quantifier') {
          if (element.max >= manyTimes) {
            const tail = behind.map((node) => samples(node, letters)[0] ?? '').join('');
            found.push({ lead: before, pumps: samples(element.element, letters).filter((pump) => pump !== ''), tail });
          }
          if ('alternatives' in element.element) visit(element.element.alternatives, before);
        } else if ('alternatives' in element) visit(element.alternatives, before);
        before += samples(element, letters)[0] ?? '';
      }
    }
  };
  visit(tree.alternatives, '');
  return found;
};

const mostSamples = 6;

/** Some texts that a part takes, the first one not empty where there is such a text. */
const samples = (node: AST.Pattern | AST.Alternative | AST.Element, letters: Letters): readonly string[] => {
  switch (node.type) {
    case 'Pattern':
    case 'Group':
    case 'CapturingGroup':
      return few(node.alternatives.flatMap((alternative) => samples(alternative, letters).slice(0, 3)));
    case 'Alternative': {
      const parts = node.elements.map((element) => samples(element, letters));
      const usualParts = parts.map(([first = '']) => first);
      const variants = parts.flatMap((some, index) =>
        some.slice(1).map((other) => usualParts.with(index, other).join('')),
      );
      return few([usualParts.join(''), ...variants]);
    }
    case 'Quantifier': {
      const once = samples(node.element, letters);
      const times = Math.max(node.min, 1);
      return few([...once.map((text) => text.repeat(times)), ...(node.min === 0 ? [''] : [])]);
    }
    case 'Character':
      return [String.fromCodePoint(node.value)];
    case 'CharacterClass':
    case 'CharacterSet':
    case 'ExpressionCharacterClass':
      return few(letters.of(node));
    case 'Backreference':
      return Array.isArray(node.resolved) ? [''] : samples(node.resolved, letters);
    case 'Assertion':
      return [''];
  }
};

const few = (texts: readonly string[]): readonly string[] => [...new Set(texts)].slice(0, mostSamples);
