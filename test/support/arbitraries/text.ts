import fc, { type Arbitrary } from 'fast-check';

/** Any character but a lone surrogate. The library's own takes most of a second to make: it lists them all. */
const character = fc.nat(0x10_ffff - 0x800).map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));

/** Texts of ASCII, among them names such as `__proto__`, and of any characters. */
export const anyText = (limits: { readonly minLength?: number; readonly maxLength?: number } = {}): Arbitrary<string> =>
  fc.oneof(fc.string(limits), fc.string({ ...limits, unit: character }));
