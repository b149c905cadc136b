import type { FieldNames } from '../../engine/model/wire/client-paths.ts';

/** This protocol's names for the paths in losses. */
export const fieldNames: FieldNames = {
  fields: {
    stop: ['stop_sequences'],
    user: ['metadata.user_id'],
    parallel_tool_calls: ['tool_choice.disable_parallel_tool_use'],
    'response_format.schema': ['output_config.format.schema', 'output_format.schema'],
    response_format: ['output_config.format', 'output_format'],
    'reasoning.effort': ['output_config.effort', 'thinking'],
    'reasoning.budget_tokens': ['thinking.budget_tokens'],
    'reasoning.summary': ['thinking.display'],
    'reasoning.mode': ['thinking.type'],
    reasoning: ['thinking', 'output_config.effort'],
  },
  members: { parameters: ['input_schema'] },
};
