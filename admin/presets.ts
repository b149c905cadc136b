import { defer, from } from 'rxjs';
import Type from 'typebox';
import { type Finding, wordFinding } from '../engine/config/findings.ts';
import { ConfigFile } from '../engine/config/schema.ts';
import type { Endpoint, Params } from '../engine/http/endpoint.ts';
import type { Incoming } from '../engine/http/incoming.ts';
import { fail } from '../engine/model/fault.ts';
import type { JsonObject } from '../engine/model/json.ts';
import {
  checkPresetName,
  listPresets,
  type PresetFile,
  readManifest,
  removePreset,
  writeManifest,
} from '../engine/presets/preset-files.ts';
import type { Presets } from '../engine/presets/presets.ts';
import type { ReplyPart } from '../engine/reply-part.ts';
import { jsonReply } from './json-reply.ts';
import type { AnswerDoc, DocumentedRow, OperationDoc } from './operation-doc.ts';
import { ServiceFault } from './operation-docs.ts';
import { readJsonBody } from './read-json-body.ts';
import { wordFault } from './word-fault.ts';

const Findings = Type.Array(Type.Object({ path: Type.String(), message: Type.String() }));

const PresetRow = Type.Object({
  name: Type.String(),
  path: Type.String({ description: 'Of its manifest.' }),
  faults: Type.Optional(Findings),
});

/**
 * Presets: `GET /api/presets` lists them, with what is wrong with those that can't be used; `GET /api/presets/{name}` tells a
 * manifest as written, `PUT` checks and replaces it, `DELETE` removes it.
 */
export const presetAdminRows = (home: string, presets: Presets): readonly DocumentedRow[] => {
  const show = async ({ name, path }: PresetFile): Promise<JsonObject> => {
    const parsed = await readManifest(home, name).catch(() => undefined);
    const faults =
      parsed === undefined ? unread : 'faults' in parsed ? parsed.faults : presets.validate(parsed.written).faults;
    return { name, path, ...(faults.length > 0 && { faults: faults.map((fault) => ({ ...fault })) }) };
  };
  const list = async () => jsonReply({ presets: await Promise.all((await listPresets(home)).map(show)) });
  const read = async (name: string) => {
    const parsed = (await readManifest(home, name)) ?? noPreset(name);
    if ('written' in parsed) return jsonReply(parsed.written);
    return fail('invalid-request', `The manifest can't be read: ${parsed.faults.map(wordFinding).join('; ')}.`);
  };
  const write = async (name: string, { body }: Incoming) => {
    checkPresetName(name);
    const manifest = readJsonBody(body);
    const { faults, warnings } = await presets.check(manifest);
    if (faults.length > 0) {
      const words = faults.map(wordFinding).join('; ');
      fail('invalid-request', `Nothing was changed: ${words}.`, { param: faults[0]?.path });
    }
    await writeManifest(home, name, manifest);
    const sentences = [
      `The preset ${name} was saved.`,
      ...warnings.map((warning) => `Warning: ${wordFinding(warning)}.`),
    ];
    return jsonReply({ success: true, message: sentences.join(' ') });
  };
  const remove = async (name: string) =>
    (await removePreset(home, name))
      ? jsonReply({ success: true, message: `The preset ${name} was removed.` })
      : noPreset(name);

  const endpoint = (answer: (name: string, incoming: Incoming) => Promise<ReplyPart>): Endpoint => ({
    open: false,
    wordFault,
    handle: (incoming, { name = '' }: Params) => defer(() => from(answer(name, incoming))),
  });
  return [
    { method: 'GET', path: '/api/presets', endpoint: endpoint(list), doc: listDoc },
    { method: 'GET', path: '/api/presets/:name', endpoint: endpoint(read), doc: readDoc },
    { method: 'PUT', path: '/api/presets/:name', endpoint: endpoint(write), doc: writeDoc },
    { method: 'DELETE', path: '/api/presets/:name', endpoint: endpoint(remove), doc: removeDoc },
  ];
};

const unread: readonly Finding[] = [{ path: 'manifest.json', message: "can't be read" }];

const noPreset = (name: string): never =>
  fail('not-found', `There is no preset ${JSON.stringify(name.slice(0, 100))}.`);

const told = (summary: string, answer: AnswerDoc, more: Partial<OperationDoc> = {}): OperationDoc => ({
  summary,
  group: 'management',
  answers: { 200: answer },
  fault: ServiceFault,
  ...more,
});

const done = { 'application/json': Type.Object({ success: Type.Boolean(), message: Type.String() }) };

const listDoc = told('The presets', {
  says: 'The list.',
  content: { 'application/json': Type.Object({ presets: Type.Array(PresetRow) }) },
});
const readDoc = told("A preset's manifest", { says: 'As written.', content: { 'application/json': ConfigFile } });
const writeDoc = told('Writes a preset', { says: 'It is in effect.', content: done }, { request: ConfigFile });
const removeDoc = told('Removes a preset', { says: 'It is gone.', content: done });
