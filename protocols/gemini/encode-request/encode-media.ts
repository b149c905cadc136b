import { fail } from '../../../engine/model/fault.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Base64Source, DocumentPart, FileSource, UrlSource } from '../../../engine/model/request.ts';
import { mediaTypeOf } from '../../../engine/model/request.ts';
import { wireFormat } from '../tool-names.ts';

/** Supported image types. Source: Gemini API documentation, "Image understanding". */
const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif']);

/** Encodes an image, document or audio. Throws an `unsupported` fault for media that the model would never see. */
export const encodeMedia = (source: Base64Source | UrlSource | FileSource, at: string): JsonObject => {
  switch (source.kind) {
    case 'base64': {
      const mimeType = mimeTypeOf(source.mediaType);
      if (!isTaken(mimeType)) fail('unsupported', `${at}: this provider accepts no ${mimeType}.`, { param: at });
      return { inlineData: { mimeType, data: source.data } };
    }
    case 'url': {
      const { url } = source;
      if (!reachable.test(url)) {
        fail('unsupported', `${at}: this provider doesn't fetch URLs; send the content itself, as base64.`, {
          param: at,
        });
      }
      return { fileData: { ...mimeMember(url), fileUri: url } };
    }
    case 'file': {
      const { id, wire } = source;
      if ((wire !== undefined && wire !== wireFormat) || !/^files\/[\w-]+$/.test(id)) {
        fail('unsupported', `${at} names a file that only another vendor has.`, { param: at });
      }
      return { fileData: { fileUri: `https://generativelanguage.googleapis.com/v1beta/${id}` } };
    }
    default:
      return source satisfies never;
  }
};

/** The MIME type of audio. Source: Gemini API documentation, "Audio understanding". */
export const audioType = (format: string): string => `audio/${format === 'mpeg' ? 'mp3' : format.toLowerCase()}`;

/** URLs that the vendor fetches itself: its own stores, and videos. Source: Gemini API reference, "FileData". */
const reachable =
  /^(?:gs:\/\/|https:\/\/generativelanguage\.googleapis\.com\/|https:\/\/(?:www\.)?youtube\.com\/watch\?|https:\/\/youtu\.be\/)/i;

/** Whether the vendor reads this data as it is. */
export const takesData = (source: DocumentPart['source']): boolean =>
  source.kind === 'base64' && isTaken(mimeTypeOf(source.mediaType));

const mimeTypeOf = (mediaType: string): string => {
  const plain = mediaTypeOf(mediaType);
  return plain === 'application/json' ? 'text/plain' : plain;
};

const isTaken = (mimeType: string): boolean =>
  mimeType.startsWith('image/')
    ? imageTypes.has(mimeType)
    : mimeType === 'application/pdf' || /^(?:text|audio|video)\//.test(mimeType);

const mimeMember = (url: string): JsonObject => {
  const extension = /\.(\w+)$/.exec(url)?.[1]?.toLowerCase() ?? '';
  const mimeType = Object.hasOwn(extensions, extension) ? extensions[extension] : undefined;
  return mimeType === undefined ? {} : { mimeType };
};

const extensions: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  mp4: 'video/mp4',
};
