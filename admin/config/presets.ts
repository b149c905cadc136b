import { type Finding, formatFinding, formatFindings } from '../../engine/config/diagnostics.ts';
import {
  checkPresetName,
  listPresets,
  type PresetFile,
  readManifest,
  removePreset,
  writeManifest,
} from '../../engine/config/presets/preset-files.ts';
import type { Presets } from '../../engine/config/presets/presets.ts';
import { ConfigFile } from '../../engine/config/schema.ts';
import { putSecretsBack } from '../../engine/config/secrets.ts';
import { fail, quoted } from '../../engine/model/fault.ts';
import { adminOperation, done, jsonOperation, jsonReply, readJsonBody } from '../endpoint.ts';
import { Outcome, PresetList } from '../schema.ts';
import { secretsQuery, showSecrets } from '../shown-secrets.ts';

/**
 * Endpoints of presets. `GET /api/presets` lists them, with the faults of invalid ones. For `/api/presets/{name}`: `GET`
 * returns the manifest as written, or with placeholders (`secrets=hidden`), `PUT` validates and replaces it, `DELETE` removes it.
 */
export const presetOperations = (home: string, presets: Presets<unknown>) => {
  const show = async ({ name, path }: PresetFile): Promise<PresetList['presets'][number]> => {
    const parsed = await readManifest(home, name).catch(() => undefined);
    const faults =
      parsed === undefined ? unreadable : 'faults' in parsed ? parsed.faults : presets.validate(parsed.source).faults;
    return { name, path, ...(faults.length > 0 && { faults }) };
  };
  return {
    list: jsonOperation({
      summary: 'The presets',
      says: 'The list.',
      reply: PresetList,
      answer: async () => ({
        presets: await Promise.all((await listPresets(home)).map(show)),
      }),
    }),
    read: adminOperation({
      summary: "A preset's manifest",
      says: 'As written, including its keys.',
      reply: ConfigFile,
      query: secretsQuery,
      answer: async (request, { name = '' }) => {
        const parsed = (await readManifest(home, name)) ?? noPreset(name);
        if ('source' in parsed) return jsonReply(showSecrets(request, parsed.source));
        return fail('invalid-request', `The manifest can't be read:${formatFindings(parsed.faults)}`);
      },
    }),
    save: jsonOperation({
      summary: 'Writes a preset',
      says: 'It is in effect.',
      reply: Outcome,
      request: ConfigFile,
      answer: async ({ body }, { name = '' }) => {
        checkPresetName(name);
        const present = await readManifest(home, name).catch(() => undefined);
        const manifest = putSecretsBack(readJsonBody(body), present && 'source' in present ? present.source : {});
        const { faults, warnings } = await presets.check(manifest);
        if (faults.length > 0) {
          fail('invalid-request', `Nothing was changed:${formatFindings(faults)}`, { param: faults[0]?.path });
        }
        await writeManifest(home, name, manifest);
        const sentences = [
          `The preset ${name} was saved.`,
          ...warnings.map((warning) => `Warning: ${formatFinding(warning)}.`),
        ];
        return done(sentences.join(' '));
      },
    }),
    remove: jsonOperation({
      summary: 'Removes a preset',
      says: 'It is gone.',
      reply: Outcome,
      answer: async (_, { name = '' }) =>
        (await removePreset(home, name)) ? done(`The preset ${name} was removed.`) : noPreset(name),
    }),
  };
};

const unreadable: readonly Finding[] = [{ path: 'manifest.json', message: "can't be read" }];

const noPreset = (name: string): never => fail('not-found', `There is no preset ${quoted(name)}.`);
