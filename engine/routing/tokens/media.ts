import { Buffer } from 'node:buffer';
import type { AudioPart, Base64Source, ImagePart } from '../../model/request.ts';
import { imageSize } from './image-size.ts';

/** Source: Anthropic documentation, "Vision": tokens are about width × height / 750. */
const pixelsPerToken = 750;
/** Larger images are scaled down to this edge first. Source: as above. */
const maxEdge = 1568;
/** The maximum for an image, also used if its size is unknown. Source: as above. */
const maxImageTokens = 1_600;
/** Source: OpenAI documentation, "Images and vision": the flat price of an image in low detail. */
const lowDetailTokens = 85;
/** Text, and an image of the page. Source: Anthropic documentation, "PDF support": 1,500 to 3,000 tokens a page for text. */
const tokensPerPage = 2_250;
/** An estimate for documents whose pages can't be counted. */
const bytesPerPage = 50_000;
/** Base64 characters searched for pages; a multiple of four. The rest is assumed to be alike. */
const maxSearched = 2 * 1024 * 1024;
/** Bytes of text per token; a rule of thumb. */
const bytesPerToken = 4;
/** Ten tokens a second (OpenAI documentation, "Realtime costs") of sound at 128 kbit/s. */
const soundBytesPerToken = 1_600;

/** Tokens of an image, estimated from its size in pixels. */
export const imageTokens = ({ source, detail }: ImagePart): number => {
  if (detail === 'low') return lowDetailTokens;
  const size = base64Of(source);
  const pixels = size === undefined ? undefined : imageSize(size);
  if (!pixels) return maxImageTokens;
  const scale = Math.min(1, maxEdge / Math.max(pixels.width, pixels.height));
  return Math.min(maxImageTokens, Math.ceil((pixels.width * pixels.height * scale ** 2) / pixelsPerToken));
};

/** Tokens of a document's bytes: by pages for a PDF, else by length. */
export const fileTokens = ({ mediaType, data }: Base64Source): number =>
  mediaType === 'application/pdf' ? pages(data) * tokensPerPage : Math.ceil(bytesOf(data) / bytesPerToken);

/** Tokens of a document that only the vendor can read: those of one page. */
export const unreadableFileTokens = tokensPerPage;

/** Tokens of a recording, estimated from its length in bytes. */
export const audioTokens = ({ data }: AudioPart): number => Math.ceil(bytesOf(data) / soundBytesPerToken);

const bytesOf = (base64: string): number => Math.floor((base64.length * 3) / 4);

const base64Of = (source: ImagePart['source']): string | undefined => {
  if (source.kind === 'base64') return source.data;
  return source.kind === 'url' && source.url.startsWith('data:')
    ? source.url.slice(source.url.indexOf(',') + 1)
    : undefined;
};

/** Counts page objects. If they are compressed, estimates the pages from the length. */
const pages = (base64: string): number => {
  const searched = base64.slice(0, maxSearched);
  const found =
    Buffer.from(searched, 'base64')
      .toString('latin1')
      .match(/\/Type\s{0,4}\/Page(?!s)/g)?.length ?? 0;
  return found === 0
    ? Math.ceil(bytesOf(base64) / bytesPerPage)
    : Math.ceil((found * base64.length) / Math.max(1, searched.length));
};
