import type { ModelRequest, ToolChoice } from '../../engine/model/request.ts';
import { exitName, exitReminder, exitTool } from './exit-tool.ts';

/** The request with the tool that ends tool mode, and the duty to call some tool. As it was where tool mode has no place. */
export const offerExit = (request: ModelRequest): ModelRequest => {
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

/**
 * `undefined` where the client has decided already: it wants no call, or one of its own tools to be called, out of which the
 * model mustn't get by talking.
 */
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
