import Type from 'typebox';
import { cloudAt } from '../../engine/model/clouds.ts';
import { format } from '../../engine/model/transformer.ts';
import { geminiModelList, geminiUpstream } from '../../protocols/gemini/index.ts';
import { cloudOf, cloudOption, googleCredentials, isAboveModels, pathsOf } from './clouds.ts';
import { geminiFacts } from './facts/gemini.ts';

/**
 * Gemini: model and streaming are in the path, the key in its own header. Vertex AI has the same below a project's path, and also takes
 * a login's token. Sources: Gemini API reference; Google Cloud documentation, "Generate content with the Gemini API"; npm
 * @google/genai 2.32.
 */
export const gemini = format({
  name: 'gemini',
  about: "Speaks Gemini's generateContent.",
  genAiName: 'gcp.gemini',
  hosts: ['generativelanguage.googleapis.com'],
  serves: (baseUrl, model) =>
    cloudAt(baseUrl)?.name === 'vertex' &&
    isAboveModels(baseUrl) &&
    /^(?:publishers\/google\/models\/)?gemini-/.test(model),
  firstStart: {
    title: 'Google Gemini',
    variable: 'GEMINI_API_KEY',
    baseUrl: 'https://generativelanguage.googleapis.com',
    models: ['gemini-4-carbon', 'gemini-4-hydrogen', 'gemini-3.8-flash', 'gemini-3.5-flash-lite'],
  },
  options: Type.Object(
    {
      schema: Type.Optional(
        Type.Union([Type.Literal('json'), Type.Literal('openapi')], {
          description: 'How schemas are written: as JSON Schema, or as the subset of OpenAPI that every server takes.',
        }),
      ),
      cloud: cloudOption,
    },
    { additionalProperties: false },
  ),
  path: '/v1beta/models/{model}:generateContent',
  models: geminiModelList,
  facts: geminiFacts,
  lists: (place) => pathsOf(place) === undefined,
  pathFor: (target, { model, stream }) =>
    `${pathsOf(target) === 'vertex' ? '/v1/publishers/google/models' : `/v1beta/${collectionOf(model)}`}/{model}:${
      stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
    }`,
  protocol: ({ baseUrl, options }) =>
    geminiUpstream({ schema: options.schema, isCloud: cloudOf({ baseUrl, options }) !== undefined }),
  headers: (call): Readonly<Record<string, string>> => {
    if (cloudOf(call)) return googleCredentials(call);
    return call.apiKey === '' ? {} : { 'x-goog-api-key': call.apiKey };
  },
});

/** A model's collection; the vendor's own list includes it in names. */
const collectionOf = (model: string): string => (model.startsWith('tunedModels/') ? 'tunedModels' : 'models');
