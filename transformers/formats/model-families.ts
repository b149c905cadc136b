import { type KnownModels, plainName } from '../../engine/model/transformer.ts';
import { type EffortWords, nearestEfforts } from '../../engine/model/wire/efforts.ts';
import { narrowToolSchema } from '../../engine/model/wire/tool-schema.ts';
import type { ChatDialect } from '../../protocols/chat/index.ts';
import { geminiEfforts, geminiSubset } from '../../protocols/gemini/index.ts';
import { applyRow, type DialectRow } from './dialect-row.ts';

/** Models of one family, whoever serves them. */
interface ModelFamily extends DialectRow {
  /** Matches names from `plainName`. */
  readonly names: RegExp;
  /** Requirements of their chat template, at every host that takes Chat Completions. The rest of the row is for compatible hosts. */
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
    gets: 'one system message, first',
    names: /^(?:qwen|qwq)/,
    template: { systemPlace: 'first' },
  },
  {
    name: 'minimax',
    title: 'MiniMax',
    recognised: '`minimax-*`',
    gets: 'one system message, first',
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
  {
    name: 'grok-4.5',
    title: 'Grok 4.5',
    recognised: '`grok-4.5*`',
    gets: 'efforts `low` to `high`',
    names: /^grok-4[.-]5(?!\d)/,
    efforts: () => nearestEfforts('low', 'medium', 'high'),
  },
  {
    name: 'grok-4.6',
    title: 'Grok 4.6',
    recognised: '`grok-4.6*`',
    gets: 'efforts `low` to `xhigh`',
    names: /^grok-4[.-]6(?!\d)/,
    efforts: () => nearestEfforts('low', 'medium', 'high', 'xhigh'),
  },
  {
    name: 'gpt-oss',
    title: 'gpt-oss',
    recognised: '`gpt-oss*`',
    gets: 'efforts `low` to `high`',
    names: /^gpt-oss/,
    efforts: () => nearestEfforts('low', 'medium', 'high'),
  },
  {
    name: 'gemini',
    title: 'Gemini',
    recognised: '`gemini-*`',
    gets: "schemas with single types and Gemini's keywords; efforts of the model",
    names: /^gemini-/,
    efforts: geminiEfforts,
    template: { toolSchema: { ...narrowToolSchema, subset: geminiSubset } },
  },
  {
    name: 'claude-4',
    title: 'Claude 4.1 to 4.6',
    recognised: '`claude-opus-4-1` to `claude-sonnet-4-6`',
    gets: '`temperature` or `top_p`; neither while thinking; a forced tool without thinking',
    names: /^claude-(?:(?:opus|sonnet|haiku)-4[.-][1-6]|4[.-][1-6]-(?:opus|sonnet|haiku))(?!\d)/,
    template: {
      toolsWithoutReasoning: 'forced',
      excludes: [
        { beside: 'reasoning', left: ['temperature', 'top_p', 'top_k'] },
        { beside: 'temperature', left: ['top_p'] },
      ],
    },
  },
  {
    name: 'claude-4.6',
    title: 'Claude 4.6',
    recognised: '`claude-opus-4-6`, `claude-sonnet-4-6`',
    gets: 'efforts without `xhigh`',
    names: /^claude-(?:opus|sonnet)-4[.-]6(?!\d)/,
    efforts: () => nearestEfforts('none', 'low', 'medium', 'high', 'max'),
  },
  {
    name: 'claude-5',
    title: 'Claude 4.7 to 5.5',
    recognised: '`claude-opus-4-7` to `claude-*-5-5`',
    gets: '',
    names:
      /^claude-(?:opus-4[.-][78](?!\d)|(?:opus|sonnet|haiku|fable|mythos)-5(?:[.-][125])?(?![.\d]|-\d{1,2}(?!\d)))/,
    refuses: ['temperature', 'top_p', 'top_k'],
  },
  {
    name: 'claude-5.5',
    title: 'Claude 5.5, Fable 5.1',
    recognised: '`claude-opus-5-5`, `*-sonnet-5-5`, `*-fable-5-1`, `*-5-2`',
    gets: 'no forced tool',
    names: /^claude-(?:(?:opus|sonnet)-5[.-]5|fable-5[.-][12])(?!\d)/,
    template: { unforced: 'always' },
  },
];

/** The families of a model: the configured one, or those that its name shows. */
export const familiesOf = (model: string, configured: string | undefined): readonly ModelFamily[] => {
  if (configured !== undefined) return modelFamilies.filter(({ name }) => name === configured);
  const plain = plainName(model);
  return modelFamilies.filter(({ names }) => names.test(plain));
};

/** Requirements of chat templates, as differences of models at any host. */
export const templateRules: readonly KnownModels<ChatDialect>[] = modelFamilies.flatMap(({ names, template }) =>
  template ? [{ names, differ: template }] : [],
);

/** A compatible server's dialect for a model of this family. */
export const applyFamily = (dialect: ChatDialect, family: ModelFamily, model: string): ChatDialect => {
  const applied = { ...applyRow(dialect, family), ...family.template };
  return family.efforts
    ? { ...applied, reasoning: withEfforts(applied.reasoning, family.efforts(plainName(model))) }
    : applied;
};

/** A host's controls with the efforts that the model knows, in the host's words. */
const withEfforts = (control: ChatDialect['reasoning'], words: EffortWords | undefined): ChatDialect['reasoning'] => {
  if (!control || !words) return undefined;
  const { efforts } = control;
  return {
    ...control,
    efforts: {
      none: efforts[words.none],
      minimal: efforts[words.minimal],
      low: efforts[words.low],
      medium: efforts[words.medium],
      high: efforts[words.high],
      xhigh: efforts[words.xhigh],
      max: efforts[words.max],
    },
  };
};
