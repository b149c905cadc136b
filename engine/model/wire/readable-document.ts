import { type DocumentPart, type ImagePart, mediaTypeOf } from '../request.ts';

/**
 * A document in the form in which every client's is treated: the data of a text is its text, and that of an image an image. Others
 * stay as they are.
 */
export const readableDocument = (part: DocumentPart): DocumentPart | ImagePart => {
  const { source } = part;
  if (source.kind !== 'base64') return part;
  const mediaType = mediaTypeOf(source.mediaType);
  if (mediaType.startsWith('image/')) {
    const { at, cache, extra } = part;
    return { type: 'image', source, at, cache, extra };
  }
  const isText = textTypes.test(mediaType) || (unknownTypes.has(mediaType) && textNames.test(part.title ?? ''));
  return isText ? { ...part, source: { kind: 'text', text: Buffer.from(source.data, 'base64').toString() } } : part;
};

/** Media types of text. Source: IANA, "Media Types", with the structured suffixes of RFC 6839. */
const textTypes =
  /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|toml|javascript|x-javascript|typescript|x-sh|sql|x-ndjson|jsonl|csv|[\w.-]{1,64}\+(?:json|xml|yaml))$)/;

/** Media types that say nothing. */
const unknownTypes: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

const textNames =
  /\.(?:txt|md|markdown|csv|tsv|json|jsonl|xml|ya?ml|toml|ini|log|html?|css|[cm]?[jt]sx?|py|rb|go|rs|java|c|h|cpp|sh|sql)$/i;
