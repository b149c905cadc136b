import type { JsonDraft, JsonObject } from '../../engine/model/json/json.ts';
import type { Effort, OutputFormat, Reasoning } from '../../engine/model/request.ts';
import { reader } from '../../engine/model/schema.ts';
import { nodeReader } from './extra.ts';
import { ManualThinking, OutputConfig, SchemaFormat, ThinkingBody } from './schema-request.ts';

/** The meaning of `thinking` and `output_config`, and their unmodelled members. */
interface Controls {
  readonly reasoning: Reasoning | undefined;
  readonly output: OutputFormat | undefined;
  readonly extra: JsonObject;
}

/** The body members for thinking and the output format. */
interface ControlFields {
  readonly thinking?: JsonObject | null;
  readonly output_config?: JsonObject | null;
  /** The older name of `output_config.format`. */
  readonly output_format?: JsonObject | null;
}

/** Decodes thinking and output controls. Throws an `invalid-request` fault with the path. */
export const decodeControls = (body: ControlFields): Controls => {
  const thinking = decodeThinking(body.thinking);
  const config = decodeConfig(body.output_config);
  const format = decodeFormat(body.output_format, 'output_format');
  const asked = thinking.reasoning || config.effort;
  return {
    reasoning: asked ? { ...thinking.reasoning, effort: config.effort, wire: 'messages' } : undefined,
    output: config.output ?? format.output,
    extra: { ...thinking.extra, ...config.extra, ...(format.rest && { output_format: format.rest }) },
  };
};

const readThinking = nodeReader(ThinkingBody);
const readManual = nodeReader(ManualThinking);

const decodeThinking = (raw: JsonObject | null | undefined): { reasoning?: Reasoning; extra?: JsonObject } => {
  if (!raw) return {};
  const { value, extra } = readThinking(raw, 'thinking');
  const show = value.display === 'omitted' ? 'hidden' : value.display === 'summarized' ? 'auto' : undefined;
  const kept = extra && { thinking: extra.fields };
  switch (value.type) {
    case 'enabled': {
      const manual = readManual(raw, 'thinking');
      return {
        reasoning: { mode: 'on', budget: manual.value.budget_tokens, show },
        ...(manual.extra && { extra: { thinking: manual.extra.fields } }),
      };
    }
    case 'adaptive':
      return { reasoning: { mode: 'adaptive', show }, ...(kept && { extra: kept }) };
    case 'between_tools':
      return { reasoning: { mode: 'between-tools', show }, ...(kept && { extra: kept }) };
    case 'disabled':
      return { reasoning: { mode: 'off' }, ...(kept && { extra: kept }) };
    default:
      return { extra: { thinking: raw } };
  }
};

const efforts: ReadonlySet<string> = new Set<Effort>(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
const isEffort = (word: string): word is Effort => efforts.has(word);
const readConfig = nodeReader(OutputConfig);

const decodeConfig = (
  raw: JsonObject | null | undefined,
): { effort?: Effort | undefined; output?: OutputFormat | undefined; extra?: JsonObject } => {
  if (!raw) return {};
  const { value, extra } = readConfig(raw, 'output_config');
  const { output, rest } = decodeFormat(value.format, 'output_config.format');
  const effort = value.effort && isEffort(value.effort) ? value.effort : undefined;
  const kept: JsonDraft = { ...extra?.fields };
  if (value.effort && !effort) kept.effort = value.effort;
  if (rest) kept.format = rest;
  return { effort, output, ...(Object.keys(kept).length > 0 && { extra: { output_config: kept } }) };
};

const schemaFormat = reader(SchemaFormat);

/** `rest` is an unmodelled format. */
const decodeFormat = (raw: JsonObject | null | undefined, at: string): { output?: OutputFormat; rest?: JsonObject } => {
  if (!raw) return {};
  if (raw.type !== 'json_schema') return { rest: raw };
  return { output: { type: 'json-schema', schema: schemaFormat.read(raw, at).schema } };
};
