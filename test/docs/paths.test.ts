import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import test from 'ava';

const root = resolve(import.meta.dirname, '../..');
const files = ['engine', 'protocols', 'transformers', 'admin', 'ui/src', 'test', 'docs'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.includes('node_modules'))
    .map((file) => join(folder, file)),
);
const pages = ['README.md', ...files.filter((file) => file.endsWith('.md'))];
const sources = files.filter((file) => /\.(?:tsx?|js)$/.test(file));
const names = new Set(sources.map((file) => basename(file)));

const mentions = (file: string, pattern: RegExp): readonly string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map((match) => match[1] ?? '');

test('every source file and folder that the pages name exists', (t) => {
  const broken = pages.flatMap((page) =>
    mentions(page, /`((?:engine|protocols|transformers|admin|ui|test|docs|\.ci)\/[\w./-]*)`/g)
      // What a build makes isn't there before one.
      .filter((path) => !path.startsWith('ui/dist/') && !existsSync(join(root, path)))
      .map((path) => `${page}: ${path}`),
  );
  t.deepEqual(broken, []);
  t.true(pages.length > 15);
});

test('every source file that the pages name without its folder exists somewhere', (t) => {
  const broken = pages.flatMap((page) =>
    mentions(page, /`([\w-]+(?:\.test)?\.(?:ts|tsx|js))`/g)
      .filter((name) => !names.has(name))
      .map((name) => `${page}: ${name}`),
  );
  t.deepEqual(broken, []);
});

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (page: string): ReadonlySet<string> =>
  new Set(
    mentions(page, /^#+ (.+)$/gm).map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

test('every relative link of the pages leads to a file, and to a heading in it', (t) => {
  const links = pages.flatMap((page) =>
    mentions(page, /\]\(([^)\s]+)/g)
      .filter((link) => !/^[a-z]+:/.test(link))
      .map((link) => {
        const [path = '', anchor] = link.split('#');
        return { page, link, file: path === '' ? page : join(dirname(page), path), anchor };
      }),
  );
  const broken = links.filter(
    ({ file, anchor }) => !existsSync(join(root, file)) || (anchor !== undefined && !anchorsOf(file).has(anchor)),
  );
  t.deepEqual(
    broken.map(({ page, link }) => `${page}: ${link}`),
    [],
  );
  t.true(links.filter(({ anchor }) => anchor !== undefined).length > 20);
});

test('every page that the sources name exists', (t) => {
  const broken = sources.flatMap((file) =>
    mentions(file, /\b(docs\/[\w/-]+\.md)\b/g)
      .filter((page) => !existsSync(join(root, page)))
      .map((page) => `${file}: ${page}`),
  );
  t.deepEqual(broken, []);
});
