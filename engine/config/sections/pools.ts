import type { Json } from '../../model/json/json.ts';
import { memberPath, reader } from '../../model/schema.ts';
import type { Pool, PoolMember } from '../config.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { UnsetReference } from '../env.ts';
import { globMatcher } from '../glob.ts';
import { PoolFile, type PoolMemberFile } from '../schema.ts';
import { checkDestination, type DestinationList } from './check-destination.ts';
import { findDestination } from './destination.ts';
import type { ProviderList } from './providers.ts';

const file = reader(PoolFile, { compiled: false });

/** What members may name: pools aren't members of pools. */
interface MemberList extends DestinationList {
  readonly names: readonly string[];
  /** Names of all pools. */
  readonly poolNames: readonly string[];
}

/** Reads `Pools`, and adds them to what destinations may name. Elements that don't match the schema are reported already. */
export const readPools = (
  source: Json | undefined,
  list: ProviderList,
  unset: readonly UnsetReference[],
  findings: Diagnostics,
): DestinationList => {
  const rows = Array.isArray(source) ? source : [];
  const matching = rows.flatMap((row: Json, index) =>
    file.matches(row) ? [{ row, at: memberPath('Pools', index) }] : [],
  );
  const poolNames: string[] = [];
  for (const { row, at } of matching) {
    checkName(row.name.trim(), `${at}.name`, poolNames, list, findings);
    poolNames.push(row.name.trim());
  }
  const unsetAt = new Set(unset.map(({ path }) => path));
  const members = { ...list, pools: [], poolNames };
  const pools = matching.flatMap(({ row, at }) => readPool(row, at, members, unsetAt, findings) ?? []);
  return { ...list, pools, complete: list.complete && pools.length === rows.length };
};

const checkName = (
  name: string,
  path: string,
  earlier: readonly string[],
  { providers, names }: ProviderList,
  findings: Diagnostics,
): void => {
  const shown = JSON.stringify(name);
  const lister = providers.find(({ models }) => models.includes(name));
  if (name === '') findings.fault(path, 'must not be blank');
  else if (name.includes(',')) findings.fault(path, 'must not contain a comma, which stands for `provider,model`');
  else if (earlier.includes(name)) findings.fault(path, `${shown} is used twice; names must be unique`);
  else if (names.some((provider) => provider.toLowerCase() === name.toLowerCase())) {
    const other = JSON.stringify(`${name}-pool`);
    findings.fault(path, `${shown} is the name of a provider too; choose another, such as ${other}`);
  } else if (lister) {
    findings.warn(path, `${shown} is a model of ${lister.name} too; where it is named alone, the pool is used`);
  }
};

const readPool = (
  { name, strategy = 'weighted', members }: PoolFile,
  at: string,
  list: MemberList,
  unsetAt: ReadonlySet<string>,
  findings: Diagnostics,
): Pool | undefined => {
  if (members.length === 0) findings.fault(`${at}.members`, 'must not be empty');
  const read: PoolMember[] = [];
  for (const [index, row] of members.entries()) {
    const path = memberPath(`${at}.members`, index);
    if (row.weight !== undefined && strategy !== 'weighted' && strategy !== 'sticky') {
      findings.warn(`${path}.weight`, `has no effect with the strategy ${strategy}`);
    }
    // An unset one has a warning already.
    const member = unsetAt.has(`${path}.to`) ? undefined : readMember(row, path, list, findings);
    const isKnown = read.some(({ provider, model }) => provider === member?.provider && model === member.model);
    if (isKnown) findings.fault(`${path}.to`, `${JSON.stringify(row.to)} is a member already`);
    else if (member) read.push(member);
  }
  const takers = new Set(read.filter(({ provider }) => isTaker(provider, list)).map(({ provider }) => provider));
  if (takers.size > 1) {
    findings.fault(
      `${at}.members`,
      `must not have several providers that take clients' credentials: ${[...takers].join(', ')}; a key is for one of them`,
    );
  }
  return read.length > 0 ? { name: name.trim(), strategy, members: read } : undefined;
};

const isTaker = (name: string, { providers }: MemberList): boolean =>
  providers.some((provider) => provider.name === name && provider.credentials === 'client');

const readMember = (
  { to, weight = 1, models }: PoolMemberFile,
  at: string,
  list: MemberList,
  findings: Diagnostics,
): PoolMember | undefined => {
  const path = `${at}.to`;
  if (models?.length === 0) findings.fault(`${at}.models`, 'must not be empty; leave it out to serve all');
  const found = findDestination(list, to);
  if (to.trim() === '') findings.fault(path, 'must not be blank');
  else if (!found && list.poolNames.includes(to.trim())) {
    findings.fault(path, `names the pool ${JSON.stringify(to.trim())}: a pool can't be a member of a pool`);
  } else checkDestination(path, to, list, findings);
  if (!found) return undefined;
  const globs = models?.map((glob) => globMatcher(glob.trim()));
  const serves = (asked: string): boolean => globs === undefined || globs.some((matches) => matches(asked));
  return { provider: found.provider.name, model: found.model, weight, serves };
};
