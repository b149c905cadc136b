import type { FunctionTool, Tool } from '../../engine/model/request.ts';

/** The argument that holds the reply's text. */
export const responseMember = 'response';

/** The exit tool's name, different from all client tools. */
export const exitName = (tools: readonly Tool[]): string => {
  const taken = new Set(tools.map((tool) => ('name' in tool ? tool.name : undefined)));
  let name = 'ExitTool';
  for (let count = 2; taken.has(name); count += 1) name = `ExitTool${count}`;
  return name;
};

/** The exit tool, which ends tool mode. */
export const exitTool = (name: string): FunctionTool => ({
  type: 'function',
  name,
  description:
    'Ends the turn with an answer to the user. Call it when the task is done or when none of the other tools is of use, and never together with them.',
  parameters: {
    type: 'object',
    properties: {
      [responseMember]: { type: 'string', description: 'The whole answer, exactly as the user is to read it.' },
    },
    required: [responseMember],
    additionalProperties: false,
  },
});

/** The instruction about the exit tool. */
export const exitReminder = (name: string): string =>
  `<system-reminder>Tool mode is on: every turn calls a tool. Go on with the tools that bring the task forward. To say something to the user, because the task is done or no tool fits, call \`${name}\` with the answer as \`${responseMember}\`.</system-reminder>`;
