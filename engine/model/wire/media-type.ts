/** Media types that clients send but vendors reject, with their registered names. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
]);

/** Normalizes a media type: lower case, no parameters, registered name. */
export const mediaTypeOf = (text: string): string => {
  const plain = (text.split(';', 1)[0] ?? '').trim().toLowerCase();
  return aliases.get(plain) ?? plain;
};
