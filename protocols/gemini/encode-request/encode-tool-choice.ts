import { fail } from '../../../engine/model/fault.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { ToolChoice } from '../../../engine/model/request.ts';
import { wireName } from '../tool-names.ts';
import type { ContentContext } from './encode-content.ts';

/** The tools that are sent. */
interface Choosable {
  /** Names of the client's functions. */
  readonly functions: readonly string[];
  /** Whether a tool of the vendor is sent. */
  readonly hosted: boolean;
  /** Whether a tool was left out. */
  readonly leftOut: boolean;
}

/**
 * Tool choice → `functionCallingConfig`. Only functions can be forced. Throws an `unsupported` fault for a forced
 * tool that the provider lacks. Source: Gemini API reference, "FunctionCallingConfig".
 */
export const encodeChoice = (
  choice: ToolChoice | undefined,
  { functions, hosted, leftOut }: Choosable,
  { names, losses }: ContentContext,
): JsonObject | undefined => {
  const anyOf = (allowed: readonly string[]): JsonObject => ({
    mode: 'ANY',
    allowedFunctionNames: allowed.map((name) => wireName(names, name)),
  });
  const unforced = (lost: boolean): undefined => {
    if (lost)
      fail('unsupported', 'tool_choice names a tool that this provider does not have.', { param: 'tool_choice' });
    losses.drop('tool_choice', hosted ? 'left to the model: only functions can be forced' : 'no tools');
  };
  switch (choice?.type) {
    case undefined:
      return undefined;
    case 'auto':
      return functions.length > 0 ? { mode: 'AUTO' } : undefined;
    case 'none':
      return functions.length > 0 ? { mode: 'NONE' } : undefined;
    case 'required':
      return functions.length > 0 ? { mode: 'ANY' } : unforced(leftOut && !hosted);
    case 'tool':
      return functions.includes(choice.name) ? anyOf([choice.name]) : unforced(leftOut && !hosted);
    case 'allowed': {
      const there = new Set(functions);
      const left = choice.names.filter((name) => there.has(name));
      if (left.length === 0) return choice.required ? unforced(leftOut && !hosted) : undefined;
      return choice.required ? anyOf(left) : { mode: 'AUTO' };
    }
    case 'opaque':
      return unforced(!hosted);
    default:
      return choice satisfies never;
  }
};
