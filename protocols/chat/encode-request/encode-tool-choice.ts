import type { RequestContext } from '../../../engine/model/context.ts';
import { unsupported } from '../../../engine/model/fault.ts';
import type { Json, JsonObject } from '../../../engine/model/json/json.ts';
import type { CustomTool, FunctionTool, ModelRequest, Tool, ToolChoice } from '../../../engine/model/request.ts';
import { hostedChoice } from '../../../engine/model/wire/hosted-choice.ts';
import type { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { type ChatDialect, takes } from '../dialect.ts';
import { wireName } from '../tool-names.ts';
import { mustBeOff } from './encode-reasoning.ts';

/**
 * Tool choice → `tool_choice`. `left` names the hosted tools that have no entry in `tools`: forcing one throws an
 * `unsupported` fault. `served`: those that another member of the body asks for, whose use can't be forced.
 */
export const encodeChoice = (
  request: ModelRequest,
  dialect: ChatDialect,
  context: RequestContext,
  left: ReadonlySet<string>,
  served: ReadonlySet<Tool>,
): Json | undefined => {
  if (forcesServed(request, served)) {
    context.losses.approximate('tool_choice', 'auto: the provider searches on its own');
    return 'auto';
  }
  const wire = request.toolChoice && wordChoice(request.toolChoice, request, dialect, context, left);
  if (wire === undefined || wire === 'auto' || wire === 'none' || !cannotForce(request, dialect)) return wire;
  const why = dialect.unforced === 'always' ? '' : ' while it thinks';
  context.losses.approximate('tool_choice', `auto: the model accepts no other choice${why}`);
  return 'auto';
};

/** Whether a served tool is forced, by its name or because there is no other. */
const forcesServed = (request: ModelRequest, served: ReadonlySet<Tool>): boolean => {
  if (served.size === 0) return false;
  if (request.toolChoice?.type === 'required') return request.tools.every((tool) => served.has(tool));
  const hosted = hostedChoice(request);
  return hosted !== undefined && served.has(hosted);
};

const wordChoice = (
  choice: ToolChoice,
  request: ModelRequest,
  dialect: ChatDialect,
  { names, losses }: RequestContext,
  left: ReadonlySet<string>,
): Json => {
  const callable = request.tools.filter((tool) => tool.type === 'function' || tool.type === 'custom');
  switch (choice.type) {
    case 'auto':
    case 'none':
      return choice.type;
    case 'required':
      if (callable.length === 0 && left.size > 0) unsupported('tool_choice', hostedForced);
      return requiredChoice(dialect);
    case 'tool': {
      const tool = callable.find(({ name }) => name === choice.name);
      if (!tool && left.size > 0) unsupported('tool_choice', hostedForced);
      if (!dialect.toolChoices.has('named')) {
        const required = requiredChoice(dialect);
        losses.approximate('tool_choice', 'the other tools are left out');
        return required;
      }
      const kind = tool?.type === 'custom' && takes(dialect, 'custom_tools') ? 'custom' : 'function';
      return { type: kind, [kind]: { name: wireName(names, choice.name) } };
    }
    case 'allowed':
      if (takes(dialect, 'allowed_tools')) return allowedChoice(choice, callable, names);
      losses.approximate('tool_choice', 'the other tools are left out');
      return choice.required ? requiredChoice(dialect) : 'auto';
    case 'opaque':
      return unsupported('tool_choice', hostedForced);
    default:
      return choice satisfies never;
  }
};

/** Throws an `unsupported` fault if the vendor can't be made to call a tool. */
const requiredChoice = ({ toolChoices, requiredWord }: ChatDialect): string =>
  toolChoices.has('required')
    ? requiredWord
    : unsupported('tool_choice', "tool_choice: this provider can't be made to call a tool; it decides itself.");

const cannotForce = (request: ModelRequest, dialect: ChatDialect): boolean => {
  const { unforced } = dialect;
  if (!unforced || unforced === 'always') return unforced === 'always';
  if (mustBeOff(request, dialect)) return false;
  const { mode, effort, budget = 0 } = request.reasoning ?? {};
  if (mode === 'off' || effort === 'none') return false;
  const asked = mode === 'on' || mode === 'between-tools' || effort !== undefined || budget > 0;
  return asked || unforced === 'unless-off';
};

const hostedForced = 'tool_choice names a hosted tool that this provider does not have.';

const allowedChoice = (
  { required, names: allowed }: Extract<ToolChoice, { type: 'allowed' }>,
  callable: readonly (FunctionTool | CustomTool)[],
  names: ToolNames,
): JsonObject => ({
  type: 'allowed_tools',
  allowed_tools: {
    mode: required ? 'required' : 'auto',
    tools: allowed.map((name) => {
      const kind = callable.find((tool) => tool.name === name)?.type ?? 'function';
      return { type: kind, [kind]: { name: wireName(names, name) } };
    }),
  },
});
