import type { Losses } from './loss.ts';
import type { OutputFormat } from './request.ts';

/** Records what goes with a schema of the answer, for a wire format that takes the schema alone. */
export const dropSchemaWords = (
  { name, description, strict }: Extract<OutputFormat, { type: 'json-schema' }>,
  losses: Losses,
): void => {
  for (const [word, value] of Object.entries({ description, name, strict })) {
    if (value !== undefined) losses.drop(`response_format.${word}`);
  }
};
