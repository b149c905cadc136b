import { type Buffer, isAscii, transcode } from 'node:buffer';

/** From this many bytes on, Node 20 decodes text that isn't ASCII two to ten times as fast by way of UTF-16. */
const minTranscoded = 4_096;

/** Decodes valid UTF-8. */
export const utf8Text = (bytes: Buffer): string => {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return bytes.length < minTranscoded ? bytes.toString() : transcode(bytes, 'utf8', 'ucs2').toString('ucs2');
};
