import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json/json.ts';

/**
 * How the lines begin that Claude Code puts before its instructions, for its vendor's accounting. They differ between conversations
 * and calls, so elsewhere they would only spoil the cache of everything behind them.
 */
const prefix = 'x-anthropic-';

/** An instruction without the lines at its start that are for the vendor alone; the same text if it has none. */
export const withoutAttribution = (text: string): string => {
  let from = 0;
  while (text.startsWith(prefix, from)) {
    const end = text.indexOf('\n', from);
    from = end < 0 ? text.length : end + 1;
  }
  return from === 0 ? text : text.slice(from).trimStart();
};

/** The members of a body that differ without what is for the vendor alone; `undefined`: none. */
export const membersWithoutAttribution = (body: JsonObject): JsonObject | undefined => {
  const system = systemWithoutAttribution(body);
  const safeguards = safeguardsWithoutContext(body);
  return system || safeguards ? { ...system, ...safeguards } : undefined;
};

/** The body's `system` without these lines; `undefined` if it has none. */
const systemWithoutAttribution = ({ system }: JsonObject): JsonObject | undefined => {
  if (typeof system === 'string') {
    const left = withoutAttribution(system);
    return left === system ? undefined : { system: left };
  }
  if (!Array.isArray(system)) return undefined;
  const left = system.flatMap(blockWithoutAttribution);
  const isSame = left.length === system.length && left.every((block, index) => block === system[index]);
  return isSame ? undefined : { system: left };
};

const blockWithoutAttribution = (block: Json): readonly Json[] => {
  if (!isJsonObject(block) || typeof block.text !== 'string') return [block];
  const text = withoutAttribution(block.text);
  if (text === block.text) return [block];
  return text === '' ? [] : [{ ...block, text }];
};

/**
 * The body's `safeguards` without what its vendor's classifier learns about the user's machine, such as the home folder and the user's
 * rules; `undefined` if they hold nothing of the kind. Source: the requests of Claude Code 2.1.332 in auto mode.
 */
export const safeguardsWithoutContext = ({ safeguards }: JsonObject): JsonObject | undefined => {
  if (!Array.isArray(safeguards) || !safeguards.some(hasContext)) return undefined;
  return { safeguards: safeguards.map(withoutContext) };
};

const contextMember = 'classifier_context';

const hasContext = (safeguard: Json): safeguard is JsonObject =>
  isJsonObject(safeguard) && Object.hasOwn(safeguard, contextMember);

const withoutContext = (safeguard: Json): Json => {
  if (!hasContext(safeguard)) return safeguard;
  const { [contextMember]: _, ...others } = safeguard;
  return others;
};
