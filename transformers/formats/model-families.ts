import { type KnownModels, plainName } from '../../engine/model/transformer.ts';
import type { ChatDialect } from '../../protocols/chat/index.ts';
import { applyRow, type DialectRow } from './dialect-row.ts';

/** Models of one family, whoever serves them. */
interface ModelFamily extends DialectRow {
  /** Matches names from `plainName`. */
  readonly names: RegExp;
  /** What their chat template requires, at every host that takes Chat Completions. The rest of the row is for compatible hosts. */
  readonly template?: Partial<ChatDialect>;
}

/**
 * Families whose models need something else than the form that all compatible servers accept. What they need of a prompt comes from
 * their chat templates, so it holds wherever they are served. Sources: the models' templates and cards; reports on their servers,
 * as of November 2026.
 */
export const modelFamilies: readonly ModelFamily[] = [
  {
    name: 'qwen',
    title: 'Qwen',
    recognised: '`qwen*`, `qwq*`',
    gets: "one system message, first; later ones as the user's text",
    names: /^(?:qwen|qwq)/,
    template: { systemPlace: 'first' },
  },
  {
    name: 'minimax',
    title: 'MiniMax',
    recognised: '`minimax-*`',
    gets: "one system message, first; later ones as the user's text",
    names: /^minimax-/,
    template: { systemPlace: 'first' },
  },
  {
    name: 'mistral',
    title: 'Mistral',
    recognised: '`mistral*`, `mixtral*`, `ministral*`, `magistral*`, `devstral*`, `codestral*`, `pixtral*`',
    gets: "call ids of nine letters or digits; an assistant message between a tool's result and the user's text",
    names: /^(?:open-|labs-)?(?:mistral|mixtral|ministral|magistral|devstral|codestral|pixtral)/,
    template: {
      userAfterTool: false,
      callIds: { fits: /^[a-zA-Z0-9]{9}$/, length: 9, prefix: '', strict: true },
    },
  },
  {
    name: 'kimi',
    title: 'Kimi',
    recognised: '`kimi-*`',
    gets: 'its own call ids unchanged: its template numbers them',
    names: /^kimi-/,
    refuses: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'],
    differ: { callIds: undefined },
  },
  {
    name: 'grok',
    title: 'Grok, those that reason',
    recognised: '`grok-*`, except `grok-2*`, `grok-3` and `*non-reasoning`',
    gets: '',
    names: /^grok-(?!2|3(?!-mini)|.*non-reasoning)/,
    refuses: ['stop', 'presence_penalty', 'frequency_penalty'],
  },
  {
    name: 'grok-4.20',
    title: 'Grok 4.20',
    recognised: '`grok-4.20-reasoning`, `grok-4.20-non-reasoning`',
    gets: 'no effort: the name decides',
    names: /^grok-4[.-]20.*reasoning/,
    differ: { reasoning: undefined },
  },
];

/** The families of a model: the configured one, or those that its name shows. */
export const familiesOf = (model: string, configured: string | undefined): readonly ModelFamily[] => {
  if (configured !== undefined) return modelFamilies.filter(({ name }) => name === configured);
  const plain = plainName(model);
  return modelFamilies.filter(({ names }) => names.test(plain));
};

/** What chat templates require, as differences of models at any host. */
export const templateRules: readonly KnownModels<ChatDialect>[] = modelFamilies.flatMap(({ names, template }) =>
  template ? [{ names, differ: template }] : [],
);

/** A compatible server's dialect for a model of this family. */
export const applyFamily = (dialect: ChatDialect, family: ModelFamily): ChatDialect => ({
  ...applyRow(dialect, family),
  ...family.template,
});
