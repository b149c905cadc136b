import { type RowUse, type Target, traitsOf } from '../../engine/model/transformer.ts';
import { shortCallIds } from '../../engine/model/wire/call-ids.ts';
import { narrowToolSchema } from '../../engine/model/wire/tool-schema.ts';
import { type ChatDialect, type ChatField, plainDialect } from '../../protocols/chat/index.ts';
import { applyRow, without } from './dialect-row.ts';
import { hostOf } from './hosts.ts';
import { applyFamily, familiesOf } from './model-families.ts';

/** Members that only OpenAI is sure to accept: some servers reject a request for one unknown member. */
const ownFields: ReadonlySet<ChatField> = new Set([
  'service_tier',
  'metadata',
  'verbosity',
  'prompt_cache_key',
  'refusal',
  'allowed_tools',
  'custom_tools',
]);

/**
 * Compatible servers without known differences: of what can be said in several ways, the way that all known ones accept. What a
 * client asks for is sent all the same. Many return `reasoning_content`, or reasoning in tags at the start of the text.
 */
const compatible: ChatDialect = {
  ...plainDialect,
  systemPlace: 'first',
  plainText: true,
  omitsDefaults: true,
  fields: without(plainDialect.fields, ownFields),
  user: undefined,
  callIds: { ...shortCallIds, strict: false },
  toolSchema: narrowToolSchema,
  requiresParameters: true,
  finalAssistant: 'followed',
  reasoningTags: ['think', 'thinking', 'thought'],
  reasoningHistory: { field: 'reasoning_content', on: 'calls', required: false },
  // Azure tells of its filters first, xAI changes ids and counts reasoning beside the completion, many call tools and say `stop`, or repeat a call's name.
  // Source: recorded traffic; the vendors' API references.
  breaks: [
    'prelude',
    'same-head',
    'role-once',
    'call-once',
    'finish-once',
    'finish-calls',
    'usage-sum',
    'error-members',
  ],
};

/** The rows of the configuration: names of a host and of a model family; absent: as recognised. */
interface ConfiguredRows {
  readonly host?: string | undefined;
  readonly family?: string | undefined;
}

/** The dialect of a compatible server for a model: what all accept, then the host's row, its model's and the family's. */
export const compatibleDialect = ({ baseUrl, model, options }: Target<ConfiguredRows>): ChatDialect => {
  const host = hostOf(baseUrl, options.host);
  const atHost = host ? traitsOf(applyRow(compatible, host.row), host.row.models ?? [], model) : compatible;
  const dialect = familiesOf(model, options.family).reduce((made, family) => applyFamily(made, family, model), atHost);
  // A port is a guess: what it makes of a host changes no request that may pass.
  return host && host.because !== 'port' ? { ...dialect, relays: 'without-refused' } : dialect;
};

/** Whether the paths of a provider have no version. */
export const isUnversioned = ({ baseUrl, options }: Target<ConfiguredRows>): boolean =>
  hostOf(baseUrl, options.host)?.row.unversioned ?? false;

/** The rows that a compatible server's dialect is made of, for users. */
export const rowsInUse = ({ baseUrl, model, options }: Target<ConfiguredRows>): readonly RowUse[] => {
  const host = hostOf(baseUrl, options.host);
  return [
    ...(host ? [{ kind: 'host', name: host.row.name, because: host.because } as const] : []),
    ...familiesOf(model, options.family).map(({ name }) => ({
      kind: 'family' as const,
      name,
      because: options.family === undefined ? ('model' as const) : ('option' as const),
    })),
  ];
};

/** The families whose chat templates matter at other hosts, for users. */
export const templatesInUse = ({ model }: Pick<Target, 'model'>): readonly RowUse[] =>
  familiesOf(model, undefined)
    .filter(({ template }) => template !== undefined)
    .map(({ name }) => ({ kind: 'family', name, because: 'model' }));
