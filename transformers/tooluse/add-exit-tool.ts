import type { ModelRequest, ToolChoice } from '../../engine/model/request.ts';
import { exitName, exitReminder, exitTool } from './exit-tool.ts';

/** Adds the exit tool and forces a tool call; unchanged if tool mode doesn't apply. */
export const addExitTool = (request: ModelRequest): ModelRequest => {
  const { tools, system } = request;
  const name = exitName(tools);
  const toolChoice = choiceOf(request.toolChoice, name);
  const callable = tools.some(({ type }) => type === 'function' || type === 'custom');
  if (!callable || !toolChoice) return request;
  return {
    ...request,
    system: [...system, { type: 'text', text: exitReminder(name) }],
    tools: [...tools, exitTool(name)],
    toolChoice,
  };
};

/** `undefined` if the client has decided: no call, or one of its own tools, which the model must not evade. */
const choiceOf = (choice: ToolChoice | undefined, name: string): ToolChoice | undefined => {
  switch (choice?.type) {
    case undefined:
    case 'auto':
      return { type: 'required' };
    case 'allowed':
      return choice.required ? undefined : { type: 'allowed', required: true, names: [...choice.names, name] };
    case 'none':
    case 'required':
    case 'tool':
    case 'opaque':
      return undefined;
    default:
      return choice satisfies never;
  }
};
