import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { findModule } from '../../../../engine/config/custom/load-module.ts';

let top: string;
let home: string;
let shared: string;

test.before(async () => {
  top = await mkdtemp(join(tmpdir(), 'junctor-'));
  home = join(top, 'home');
  shared = join(top, 'shared');
  await mkdir(join(home, 'stages', 'inner'), { recursive: true });
  await mkdir(shared);
  await mkdir(join(top, 'home-of-another'));
  for (const file of ['home/a.js', 'home/stages/b.ts', 'home/..c.js', 'shared/d.js', 'home-of-another/e.js']) {
    await writeFile(join(top, file), '');
  }
  await symlink(join(shared, 'd.js'), join(home, 'link.js'));
  await symlink(shared, join(home, 'linked'));
  await symlink(join(home, 'a.js'), join(shared, 'back.js'));
  await symlink(home, join(top, 'home-link'));
});

test.after.always(() => rm(top, { recursive: true, force: true }));

const outside = /is outside the configuration's folder/;
const cases: readonly (readonly [title: string, path: string, allowed: readonly string[], found: string | RegExp])[] = [
  ['a relative path', 'a.js', [], 'home/a.js'],
  ['a relative path with a dot', './stages/b.ts', [], 'home/stages/b.ts'],
  ['a way out and back in', '../home/a.js', [], 'home/a.js'],
  ['a name that begins with two dots', '..c.js', [], 'home/..c.js'],
  ['an absolute path inside', '{top}/home/a.js', [], 'home/a.js'],
  ['an absolute path through a link to the folder', '{top}/home-link/a.js', [], 'home/a.js'],
  ['a link from outside to a file inside', '{top}/shared/back.js', [], 'home/a.js'],
  ['a way out', '../shared/d.js', [], outside],
  ['a way out through a folder', 'stages/../../shared/d.js', [], outside],
  ['an absolute path outside', '{top}/shared/d.js', [], outside],
  ['a link out', 'link.js', [], outside],
  ['a linked folder', 'linked/d.js', [], outside],
  ['a folder whose name goes on', '../home-of-another/e.js', [], outside],
  ['outside, but allowed', '../shared/d.js', ['{top}/shared'], 'shared/d.js'],
  ['a link out, but allowed', 'link.js', ['{top}/shared'], 'shared/d.js'],
  ['another folder is allowed', '../home-of-another/e.js', ['{top}/shared', '{top}/none'], outside],
  ['a file that is not there', 'none.js', [], /does not exist/],
  ['a folder', 'stages', [], /not a file/],
  ['the folder itself', '.', [], outside],
  ['an empty path', '', [], outside],
];

for (const [title, path, allowed, found] of cases) {
  test(`S6 ${title}`, async (t) => {
    const filled = (text: string): string => text.replace('{top}', top);
    const finding = findModule(filled(path), { home, allowed: allowed.map(filled) });
    if (typeof found === 'string') t.is(await finding, join(top, found));
    else await t.throwsAsync(finding, { message: found });
  });
}
