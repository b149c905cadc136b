import type { JsonObject } from '../../engine/model/json/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { ModelRequest, Part } from '../../engine/model/request.ts';
import type { ChatDialect } from './dialect.ts';

/** `response_format`, and an instruction where the vendor has no member for the format. */
interface EncodedOutput {
  readonly format?: JsonObject;
  readonly note?: string;
}

/** Output format → `response_format`. A schema becomes an instruction if the vendor accepts none. */
export const encodeOutput = (request: ModelRequest, dialect: ChatDialect, losses: Losses): EncodedOutput => {
  const { output } = request;
  if (!output || output.type === 'text') return {};
  if (output.type === 'json') {
    if (dialect.jsonMode) {
      const format = { type: 'json_object' };
      if (!dialect.jsonWord || saysJson(request)) return { format };
      losses.approximate('response_format', 'with an instruction: the prompt must say the word');
      return { format, note: 'Answer in JSON.' };
    }
    losses.approximate('response_format', 'an instruction');
    return { note: 'Answer with one JSON object and nothing else.' };
  }
  const { schema, name, description, strict } = output;
  if (dialect.jsonSchema) {
    const named = { name: safeName(name), ...(description !== undefined && { description }) };
    const json_schema = { ...named, schema, ...(strict !== undefined && { strict }) };
    return { format: { type: 'json_schema', json_schema } };
  }
  losses.approximate('response_format', 'the schema became an instruction');
  const note = `Answer with one JSON object and nothing else. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
  return dialect.jsonMode ? { format: { type: 'json_object' }, note } : { note };
};

/** A schema name needs 1 to 64 safe characters. Source: OpenAI API reference, "Create chat completion". */
const safeName = (name: string | undefined): string =>
  (name ?? '').replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'answer';

const saysJson = ({ system, turns }: ModelRequest): boolean =>
  [...system, ...turns.flatMap(({ parts }) => parts)].some(partSaysJson);

const partSaysJson = (part: Part): boolean => {
  if (part.type === 'tool-result') return part.content.some(partSaysJson);
  return part.type === 'text' && /json/i.test(part.text);
};
