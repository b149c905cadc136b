import { dropSchemaWords } from '../../engine/model/drop-schema-words.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { OutputFormat } from '../../engine/model/request.ts';
import { cleanSchema } from './clean-schema.ts';
import type { GeminiDialect } from './dialect.ts';

/** The output format as members of `generationConfig`, or as an instruction where those are refused. */
export interface EncodedOutput {
  readonly config: JsonObject;
  readonly note?: string;
}

/** Output format → wire. Older models refuse JSON beside functions. Source: Gemini API documentation, "Structured output". */
export const encodeOutput = (
  output: OutputFormat | undefined,
  { schema: form, jsonWithTools }: GeminiDialect,
  callsFunctions: boolean,
  losses: Losses,
): EncodedOutput => {
  if (!output || output.type === 'text') return { config: {} };
  const schema = output.type === 'json-schema' ? output.schema : undefined;
  if (output.type === 'json-schema') dropSchemaWords(output, losses);
  if (callsFunctions && !jsonWithTools) {
    losses.approximate('response_format', 'an instruction');
    const note = 'When you answer without calling a tool, answer with one JSON value and nothing else.';
    return { config: {}, note: schema ? `${note} It must fit this JSON Schema:\n${JSON.stringify(schema)}` : note };
  }
  const config = { responseMimeType: 'application/json' };
  if (!schema) return { config };
  if (form === 'json') return { config: { ...config, responseJsonSchema: schema } };
  return { config: { ...config, responseSchema: cleanSchema(schema, 'response_format.schema', losses) } };
};
