// @ts-check
// Prints the list of components that a release has: the packages at run time, for all platforms, by package-lock.json (CycloneDX).
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {{ readonly 'bom-ref': string, readonly properties: readonly { readonly name: string }[] }} Component
 * @typedef {{ readonly ref: string, readonly dependsOn: readonly string[] }} Dependency
 */

/**
 * The list, without what differs from run to run. `npm sbom --omit=dev` also leaves out packages at run time that a package for
 * development needs as well: therefore, all are listed, and those for development alone are taken out here.
 * @param {string} root
 * @returns {object}
 */
export const componentsOf = (root) => {
  const args = ['--silent', 'sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
  const printed = execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26, shell: isWindows });
  const { serialNumber: _, metadata, components, dependencies, ...rest } = JSON.parse(printed);
  const { timestamp: __, ...made } = metadata;
  /** @param {Component} component */
  const isForUse = ({ properties }) => properties.every(({ name }) => name !== 'cdx:npm:package:development');
  /** @type {readonly Component[]} */
  const used = components.filter(isForUse);
  const refs = new Set([metadata.component['bom-ref'], ...used.map((component) => component['bom-ref'])]);
  return {
    ...rest,
    // npm takes the folder's name.
    metadata: { ...made, component: { ...made.component, name: 'junctor' } },
    components: used,
    dependencies: dependencies
      .filter((/** @type {Dependency} */ { ref }) => refs.has(ref))
      .map((/** @type {Dependency} */ row) => ({ ...row, dependsOn: row.dependsOn.filter((ref) => refs.has(ref)) })),
  };
};

const isWindows = process.platform === 'win32';

const self = fileURLToPath(import.meta.url);
if (process.argv[1] === self) {
  process.stdout.write(
    `${JSON.stringify(componentsOf(fileURLToPath(new URL('../', import.meta.url))), undefined, 2)}\n`,
  );
}
