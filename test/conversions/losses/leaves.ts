import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import { memberPath } from '../../../engine/model/schema.ts';

type Step = string | number;

/** A value of a body that holds no others, and where it stands. */
export interface Leaf {
  readonly steps: readonly Step[];
  /** As losses and faults write it: `messages[0].content`. */
  readonly path: string;
  readonly value: Json;
}

/** All leaves of a value; null counts as absent. */
export const leavesOf = (value: Json | undefined, steps: readonly Step[] = []): readonly Leaf[] => {
  if (value === undefined || value === null) return [];
  const inner: readonly (readonly [Step, Json | undefined])[] = Array.isArray(value)
    ? [...value.entries()]
    : isJsonObject(value)
      ? Object.entries(value)
      : [];
  if (inner.length === 0) return [{ steps, path: pathOf(steps), value }];
  return inner.flatMap(([step, member]) => leavesOf(member, [...steps, step]));
};

/** The steps as one path. */
const pathOf = (steps: readonly Step[]): string => steps.reduce<string>(memberPath, '');

/** The bodies in which this leaf says something else, or nothing. */
export const changesOf = (body: JsonObject, { steps, value }: Leaf): readonly JsonObject[] =>
  [...otherValues(steps, value).map((other) => edit(body, steps, other)), edit(body, steps, undefined)].filter(
    isJsonObject,
  );

/** Other values of the same kind; words of a closed list have others of that list. */
const otherValues = (steps: readonly Step[], value: Json): readonly Json[] => {
  const last = steps.findLast((step) => typeof step === 'string');
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 1, value - 1, value / 2];
  if (typeof value !== 'string') return [];
  const words = closedLists[last ?? ''] ?? [];
  const others = words.filter((one) => one !== value);
  return others.length > 0 ? others : [`${value}x`];
};

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const closedLists: Readonly<Record<string, readonly string[]>> = {
  ttl: ['5m', '1h'],
  detail: ['auto', 'low', 'high', 'original'],
  effort: efforts,
  reasoning_effort: efforts,
  display: ['omitted', 'summarized'],
  verbosity: ['low', 'medium', 'high'],
  search_context_size: ['low', 'medium', 'high'],
  mode: ['auto', 'required'],
  summary: ['auto', 'concise', 'detailed'],
  generate_summary: ['auto', 'concise', 'detailed'],
  role: ['system', 'developer', 'user'],
  tool_choice: ['auto', 'none', 'required'],
};

/** The value with another one at these steps; `undefined` takes it out. */
const edit = (value: Json | undefined, [step, ...rest]: readonly Step[], other: Json | undefined): Json | undefined => {
  if (step === undefined) return other;
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    return items.flatMap((item, index) => {
      if (index !== step) return [item];
      const changed = edit(item, rest, other);
      return changed === undefined ? [] : [changed];
    });
  }
  if (!isJsonObject(value)) return value;
  const changed = edit(value[step], rest, other);
  const { [step]: _, ...others } = value;
  return changed === undefined ? others : { ...value, [step]: changed };
};

/** What the body holds at a path; `undefined` when the path leads nowhere. */
export const valueAt = (body: JsonObject, path: string): Json | undefined => {
  let value: Json | undefined = body;
  for (const step of path.split(/\.|(?=\[)/)) {
    const index = /^\[(\d+)\]$/.exec(step)?.[1];
    if (index !== undefined) value = Array.isArray(value) ? value[Number(index)] : undefined;
    else value = isJsonObject(value) ? value[step] : undefined;
  }
  return value;
};
