import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createCatalogue } from '../../../../engine/routing/catalogue/catalogue.ts';
import { type KeptList, readVendorLists } from '../../../../engine/routing/catalogue/vendor-lists.ts';

const homeOf = async (t: ExecutionContext): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-catalogue-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  return home;
};

const listOf = (provider: string, atMs = 1): KeptList => ({
  provider,
  address: `https://${provider}.example/v1`,
  atMs,
  models: [{ id: 'm' }],
});

test('of lists that several services keep at the same time, none is lost', async (t) => {
  const home = await homeOf(t);
  const catalogues = Array.from({ length: 4 }, () => createCatalogue(home));
  for (let round = 1; round <= 3; round += 1) {
    await Promise.all(
      catalogues.flatMap((catalogue, index) => [
        catalogue.keep([listOf(`p${index}`, round)]),
        catalogue.keep([listOf(`q${index}`, round)]),
      ]),
    );
    const kept = await readVendorLists(home);
    t.deepEqual(
      kept.map(({ provider, atMs }) => `${provider} ${atMs}`).toSorted(),
      ['p', 'q'].flatMap((name) => catalogues.map((_, index) => `${name}${index} ${round}`)),
    );
  }
  t.deepEqual(await readdir(home), ['models.json']);
});
