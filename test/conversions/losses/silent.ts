import { FaultError } from '../../../engine/model/fault.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { ClientProtocol } from '../../../engine/model/protocol.ts';
import { changesOf, type Leaf, leavesOf, valueAt } from './leaves.ts';
import { isOutspoken } from './outspoken.ts';
import { type Conversion, convert, type Target } from './pairs.ts';

/** What became of a body on its way to one upstream. */
interface Findings {
  /** Leaves that the upstream isn't told and that no loss names. */
  readonly silent: readonly string[];
  /** Losses whose path isn't one of the client's body. */
  readonly foreign: readonly string[];
}

/**
 * Finds what is lost in silence without knowing where each field goes: a leaf that is carried changes the upstream's body, or
 * what is recorded of it, when it changes; one that isn't must be among the losses, by itself or with the node that holds it.
 */
export const findSilent = (client: ClientProtocol, body: JsonObject, target: Target): Findings => {
  const plain = convert(client, body, target);
  if ('refused' in plain) return { silent: [], foreign: [] };
  const paths = plain.losses.map(({ path }) => path);
  const sent = JSON.stringify(plain);
  const leaves = leavesOf(body);
  const covered = (leaf: Leaf): boolean => paths.some((path) => covers(path, leaf.path)) || isOutspoken(leaf);
  /** A message's role and a group's name go with what they hold. */
  const goesWithRest = ({ path }: Leaf): boolean => {
    const holder = /^(.*)\.(?:role|name)$/.exec(path)?.[1];
    const rest = leaves.filter((other) => other.path !== path && other.path.startsWith(`${holder}.`));
    return holder !== undefined && rest.length > 0 && rest.every(covered);
  };
  const lost = (leaf: Leaf): boolean => {
    if (covered(leaf) || goesWithRest(leaf)) return false;
    let isTried = false;
    for (const changed of changesOf(body, leaf)) {
      const conversion = attempt(client, changed, target);
      if (conversion && JSON.stringify(conversion) !== sent) return false;
      isTried ||= conversion !== undefined;
    }
    return isTried;
  };
  return {
    silent: leaves.filter(lost).map(({ path }) => path),
    foreign: paths.filter((path) => valueAt(body, path) === undefined),
  };
};

/** A loss that names a whole list says nothing of its members. */
const covers = (lost: string, path: string): boolean =>
  path === lost ||
  (!/^(?:messages|input|tools|system)$/.test(lost) && (path.startsWith(`${lost}.`) || path.startsWith(`${lost}[`)));

/** `undefined` for a body that the client's own protocol refuses: it says nothing about the way to the upstream. */
const attempt = (client: ClientProtocol, body: JsonObject, target: Target): Conversion | undefined => {
  try {
    return convert(client, body, target);
  } catch (error) {
    if (error instanceof FaultError) return undefined;
    throw error;
  }
};
