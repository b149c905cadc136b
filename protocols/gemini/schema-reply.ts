import Type, { type Static, type TSchema } from 'typebox';
import { copied, lenientReader } from '../../engine/model/schema.ts';

/** A member that may be absent or null; null counts as absent. */
const maybe = <const S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]));

const Count = copied(Type.Number());
const Name = copied(Type.String());

/** One part of a candidate's content. Any other member makes the part opaque. */
export const WirePart = Type.Object({
  text: maybe(Type.String()),
  thought: maybe(Type.Boolean()),
  thoughtSignature: maybe(Type.String()),
  functionCall: maybe(
    Type.Object({
      name: Type.String({ minLength: 1 }),
      id: Name,
      /** An object; any other value counts as absent. */
      args: Type.Optional(Type.Unknown()),
    }),
  ),
});
export type WirePart = Static<typeof WirePart>;

const Source = Type.Object({ uri: copied(Type.String()), title: copied(Type.String()) });

/** The sources of a reply. The segments' indexes count UTF-8 bytes. */
export const GroundingMetadata = Type.Object({
  webSearchQueries: copied(Type.Array(Type.String())),
  groundingChunks: copied(
    Type.Array(Type.Object({ web: copied(Source), retrievedContext: copied(Source), maps: copied(Source) })),
  ),
  groundingSupports: copied(
    Type.Array(
      Type.Object({
        segment: copied(Type.Object({ startIndex: Count, endIndex: Count, text: copied(Type.String()) })),
        groundingChunkIndices: copied(Type.Array(Type.Number())),
      }),
    ),
  ),
});
export type GroundingMetadata = Static<typeof GroundingMetadata>;

/** Token counts. The prompt's include cached tokens; the candidates' exclude thoughts. */
export const UsageMetadata = Type.Object({
  promptTokenCount: Count,
  cachedContentTokenCount: Count,
  candidatesTokenCount: Count,
  thoughtsTokenCount: Count,
  toolUsePromptTokenCount: Count,
  serviceTier: Name,
});
export type UsageMetadata = Static<typeof UsageMetadata>;

/** A candidate reply; the gateway requests one. */
export const Candidate = Type.Object({
  content: maybe(Type.Object({ parts: maybe(Type.Array(WirePart)) })),
  finishReason: maybe(Type.String()),
  finishMessage: Name,
  groundingMetadata: copied(GroundingMetadata),
});
export type Candidate = Static<typeof Candidate>;

/** A whole reply, or a chunk of a stream. Source: Gemini API reference, "GenerateContentResponse". */
export const GenerateContentResponse = Type.Object({
  candidates: maybe(Type.Array(Candidate)),
  promptFeedback: maybe(Type.Object({ blockReason: maybe(Type.String()), blockReasonMessage: Name })),
  usageMetadata: copied(UsageMetadata),
  modelVersion: Name,
  responseId: Name,
});
export type GenerateContentResponse = Static<typeof GenerateContentResponse>;

/** Validates replies and chunks. */
export const responseReader = lenientReader(GenerateContentResponse);
