import type { Losses } from '../loss.ts';
import type { ModelRequest, Part } from '../request.ts';
import { memberPath } from '../schema.ts';

/** A node that a stage may drop, and where losses name it. */
interface Place {
  readonly at: string;
  /** Properties that another node must share to count as its successor: a part's type, a turn's role, a tool's name. */
  readonly kind: string;
  readonly inside: readonly Place[];
}

/**
 * Records what a custom stage dropped of a request: instructions, turns, tools and parts. A node stays if its path or its name does, maybe in
 * another turn; one without a path counts as the successor of the first of its kind that is missing from its list.
 */
export const recordStageLosses = (before: ModelRequest, after: ModelRequest, losses: Losses): void => {
  compare(partPlaces(before.system, 'system'), partPlaces(after.system, 'system'), losses);
  if (before.turns !== after.turns) {
    const moved = new Set(after.turns.flatMap(({ parts }) => parts.flatMap(({ at }) => at ?? [])));
    compare(turnPlaces(before), turnPlaces(after), losses, moved);
  }
  compare(toolPlaces(before), toolPlaces(after), losses);
};

const partPlaces = (parts: readonly Part[], list: string): readonly Place[] =>
  parts.map((part, index) => {
    const at = part.at ?? memberPath(list, index);
    return { at, kind: part.type, inside: insideOf(part, at) };
  });

const insideOf = (part: Part, at: string): readonly Place[] =>
  part.type === 'tool-result' ? partPlaces(part.content, `${at}.content`) : [];

const turnPlaces = ({ turns }: ModelRequest): readonly Place[] =>
  turns.map((turn, index) => {
    const at = turn.at ?? memberPath('turns', index);
    return { at, kind: turn.role, inside: partPlaces(turn.parts, `${at}.parts`) };
  });

const toolPlaces = ({ tools }: ModelRequest): readonly Place[] =>
  tools.map((tool, index) => ({
    at: tool.at ?? memberPath('tools', index),
    kind: ('name' in tool ? tool.name : undefined) ?? tool.type,
    inside: [],
  }));

const compare = (
  before: readonly Place[],
  after: readonly Place[],
  losses: Losses,
  moved: ReadonlySet<string> = none,
): void => {
  const remaining = new Map(after.map((place) => [place.at, place]));
  const missing: Place[] = [];
  for (const place of before) {
    const same = remaining.get(place.at);
    if (same) compare(place.inside, same.inside, losses, moved);
    else missing.push(place);
    remaining.delete(place.at);
  }
  const successors = new Map<string, Place[]>();
  for (const place of remaining.values())
    successors.get(place.kind)?.push(place) ?? successors.set(place.kind, [place]);
  for (const place of missing) {
    const successor = successors.get(place.kind)?.shift();
    if (successor) compare(place.inside, successor.inside, losses, moved);
    else if (!moved.has(place.at)) losses.drop(place.at);
  }
};

const none: ReadonlySet<string> = new Set();
