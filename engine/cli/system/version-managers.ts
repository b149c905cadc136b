/** The folders in which version managers keep one version of Node.js each. */
const folders: readonly (readonly [manager: string, folder: RegExp])[] = [
  ['nvm', /\/\.?nvm\/versions\/node\/|\/nvm\/v?\d/],
  ['fnm', /\/\.?fnm\/node-versions\/|\/fnm_multishells\//],
  ['mise', /\/mise\/installs\//],
  ['asdf', /\/\.?asdf\/installs\//],
  ['volta', /\/\.?volta\/tools\/image\//],
  ['nodenv', /\/\.?nodenv\/versions\//],
  ['n', /\/n\/versions\/node\//],
  ['Homebrew', /\/Cellar\/node(?:@\d+)?\//],
];

/** The version manager whose folder a path leads into; `undefined`: none. An update of Node.js doesn't change what is there. */
export const versionManagerOf = (path: string): string | undefined => {
  const plain = path.replaceAll('\\', '/');
  return folders.find(([, folder]) => folder.test(plain))?.[0];
};
