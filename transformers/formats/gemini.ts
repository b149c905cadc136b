import Type from 'typebox';
import { format } from '../../engine/model/transformer.ts';
import { geminiModelList, geminiUpstream } from '../../protocols/gemini/index.ts';
import { geminiFacts } from './facts/gemini.ts';

/** Gemini: model and streaming are in the path, the key in its own header. Source: Gemini API reference. */
export const gemini = format({
  name: 'gemini',
  about: "Speaks Gemini's generateContent.",
  genAiName: 'gcp.gemini',
  hosts: ['generativelanguage.googleapis.com'],
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
    },
    { additionalProperties: false },
  ),
  path: '/v1beta/models/{model}:generateContent',
  models: geminiModelList,
  facts: geminiFacts,
  pathFor: (_, { model, stream }) =>
    `/v1beta/${collectionOf(model)}/{model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  protocol: ({ options }) => geminiUpstream(options),
  headers: ({ apiKey }): Readonly<Record<string, string>> => (apiKey === '' ? {} : { 'x-goog-api-key': apiKey }),
});

/** A model's collection; the vendor's own list includes it in names. */
const collectionOf = (model: string): string => (model.startsWith('tunedModels/') ? 'tunedModels' : 'models');
