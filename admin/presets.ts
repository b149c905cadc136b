import Type from 'typebox';
import { type Finding, formatFinding } from '../engine/config/diagnostics.ts';
import {
  checkPresetName,
  listPresets,
  type PresetFile,
  readManifest,
  removePreset,
  writeManifest,
} from '../engine/config/presets/preset-files.ts';
import type { Presets } from '../engine/config/presets/presets.ts';
import { ConfigFile } from '../engine/config/schema.ts';
import type { HttpRequest, ReplyPart } from '../engine/http/endpoint.ts';
import { fail } from '../engine/model/fault.ts';
import type { JsonObject } from '../engine/model/json/json.ts';
import { adminEndpoint, describe } from './endpoint.ts';
import { jsonReply } from './json-reply.ts';
import type { DocumentedRoute } from './operation-doc.ts';
import { readJsonBody } from './read-json-body.ts';

const Findings = Type.Array(Type.Object({ path: Type.String(), message: Type.String() }));

const PresetRow = Type.Object({
  name: Type.String(),
  path: Type.String({ description: 'Of its manifest.' }),
  faults: Type.Optional(Findings),
});

/**
 * Endpoints of presets. `GET /api/presets` lists them, with the faults of invalid ones. For `/api/presets/{name}`: `GET`
 * returns the manifest as written, `PUT` validates and replaces it, `DELETE` removes it.
 */
export const presetAdminRoutes = (home: string, presets: Presets<unknown>): readonly DocumentedRoute[] => {
  const show = async ({ name, path }: PresetFile): Promise<JsonObject> => {
    const parsed = await readManifest(home, name).catch(() => undefined);
    const faults =
      parsed === undefined ? unreadable : 'faults' in parsed ? parsed.faults : presets.validate(parsed.written).faults;
    return { name, path, ...(faults.length > 0 && { faults: faults.map((fault) => ({ ...fault })) }) };
  };
  const list = async () => jsonReply({ presets: await Promise.all((await listPresets(home)).map(show)) });
  const read = async (name: string) => {
    const parsed = (await readManifest(home, name)) ?? noPreset(name);
    if ('written' in parsed) return jsonReply(parsed.written);
    return fail('invalid-request', `The manifest can't be read: ${parsed.faults.map(formatFinding).join('; ')}.`);
  };
  const write = async (name: string, { body }: HttpRequest) => {
    checkPresetName(name);
    const manifest = readJsonBody(body);
    const { faults, warnings } = await presets.check(manifest);
    if (faults.length > 0) {
      const words = faults.map(formatFinding).join('; ');
      fail('invalid-request', `Nothing was changed: ${words}.`, { param: faults[0]?.path });
    }
    await writeManifest(home, name, manifest);
    const sentences = [
      `The preset ${name} was saved.`,
      ...warnings.map((warning) => `Warning: ${formatFinding(warning)}.`),
    ];
    return jsonReply({ success: true, message: sentences.join(' ') });
  };
  const remove = async (name: string) =>
    (await removePreset(home, name))
      ? jsonReply({ success: true, message: `The preset ${name} was removed.` })
      : noPreset(name);

  const endpoint = (answer: (name: string, incoming: HttpRequest) => Promise<ReplyPart>) =>
    adminEndpoint((incoming, { name = '' }) => answer(name, incoming));
  return [
    { method: 'GET', path: '/api/presets', endpoint: endpoint(list), doc: listDoc },
    { method: 'GET', path: '/api/presets/:name', endpoint: endpoint(read), doc: readDoc },
    { method: 'PUT', path: '/api/presets/:name', endpoint: endpoint(write), doc: writeDoc },
    { method: 'DELETE', path: '/api/presets/:name', endpoint: endpoint(remove), doc: removeDoc },
  ];
};

const unreadable: readonly Finding[] = [{ path: 'manifest.json', message: "can't be read" }];

const noPreset = (name: string): never =>
  fail('not-found', `There is no preset ${JSON.stringify(name.slice(0, 100))}.`);

const Done = Type.Object({ success: Type.Boolean(), message: Type.String() });

const listDoc = describe('The presets', 'The list.', Type.Object({ presets: Type.Array(PresetRow) }));
const readDoc = describe("A preset's manifest", 'As written.', ConfigFile);
const writeDoc = describe('Writes a preset', 'It is in effect.', Done, { request: ConfigFile });
const removeDoc = describe('Removes a preset', 'It is gone.', Done);
