import Type from 'typebox';
import { format } from '../../engine/model/transformer.ts';
import { geminiModelList, geminiUpstream } from '../../protocols/gemini/index.ts';

/** Gemini: the model and the streaming stand in the path, the key in a header of its own. Source: Gemini API reference. */
export const gemini = format({
  name: 'gemini',
  about: "Speaks Gemini's generateContent.",
  hosts: ['generativelanguage.googleapis.com'],
  firstStart: {
    variable: 'GEMINI_API_KEY',
    baseUrl: 'https://generativelanguage.googleapis.com',
    models: ['gemini-2.5-pro', 'gemini-2.5-flash'],
  },
  options: Type.Object(
    {
      schema: Type.Optional(
        Type.Union([Type.Literal('json'), Type.Literal('openapi')], {
          description: 'How schemas are written: as JSON Schema, or as the subset of OpenAPI that every server takes.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  path: '/v1beta/models/{model}:generateContent',
  models: geminiModelList,
  pathFor: (_, { model, stream }) =>
    `/v1beta/${resource(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  protocol: ({ options }) => geminiUpstream(options),
  headers: ({ apiKey }): Readonly<Record<string, string>> => (apiKey === '' ? {} : { 'x-goog-api-key': apiKey }),
});

/** The model as a path: some name it with its collection, as the vendor's own list does. */
const resource = (model: string): string => {
  const path = /^(?:models|tunedModels)\//.test(model) ? model : `models/${model}`;
  return path.split('/').map(encodeURIComponent).join('/');
};
