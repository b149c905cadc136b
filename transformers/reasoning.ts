import Type from 'typebox';
import { splitReasoning } from '../engine/model/reasoning/split-reasoning.ts';
import { transformer } from '../engine/model/transformer.ts';
import { addReasoningSwitches } from './reasoning/add-switches.ts';

const byDefault = true;

/**
 * Reasoning switches of some Chat Completions servers: `enable_thinking` and `thinking` in the request, and
 * optionally a tag around reasoning in the reply.
 */
export const reasoning = transformer({
  name: 'reasoning',
  about: 'Switches reasoning on or off by the fields that a provider knows, and reads it from its answers.',
  options: Type.Object({
    enable: Type.Optional(
      Type.Boolean({
        default: byDefault,
        description: 'Whether the model may reason. `false` turns it off and takes reasoning out of the answer.',
      }),
    ),
    tag: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z][\\w:.-]*$',
        maxLength: 64,
        description: 'The tag in which the model wraps its reasoning at the beginning of its text: `think`.',
      }),
    ),
  }),
  request: (request, { enable = byDefault }, losses) => addReasoningSwitches(request, enable, losses),
  events: ({ enable = byDefault, tag }) =>
    enable && tag === undefined ? undefined : splitReasoning({ tags: tag === undefined ? [] : [tag], shows: enable }),
});
