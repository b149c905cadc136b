import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** A blob to look up: its name, and the function that opens its value. */
interface Lookup {
  readonly name: string;
  /** `undefined` if the value wasn't sealed under this name. */
  readonly open: (value: string) => string | undefined;
}

/** Names and seals blobs. Names reveal nothing of their plain names. */
export interface Sealer {
  readonly seal: (name: string, text: string) => { readonly name: string; readonly value: string };
  /** The name under which a plain name is stored. */
  readonly nameOf: (name: string) => string;
  /** Opens a value that was sealed under a name, with any of the keys. */
  readonly open: (name: string, value: string) => string | undefined;
  /** One look-up per key. */
  readonly lookups: (name: string) => readonly Lookup[];
}

const nonceBytes = 12;
const tagBytes = 16;
/** Longest opened text, in bytes. */
const maxTextBytes = 8 << 20;

/** Seals with AES-256-GCM under the first of the keys (32 bytes each), and opens with all of them. */
export const createSealer = (keys: readonly Buffer[]): Sealer => {
  const [first, ...others] = keys.map(keyed);
  return first === undefined
    ? plainSealer
    : {
        seal: first.seal,
        nameOf: first.nameOf,
        open(name, value) {
          for (const key of keys) {
            const text = open(key, name, value);
            if (text !== undefined) return text;
          }
          return undefined;
        },
        lookups: (name) => [first, ...others].map((key) => key.lookup(name)),
      };
};

/** For blobs that never leave the machine's memory. */
const plainSealer: Sealer = {
  seal: (name, text) => ({ name: digest(name), value: text }),
  nameOf: (name) => digest(name),
  open: (_, value) => value,
  lookups: (name) => [{ name: digest(name), open: (value) => value }],
};

const digest = (name: string): string => createHash('sha256').update(name).digest('base64url');

const keyed = (key: Buffer) => {
  // The key seals; names have one of their own.
  const nameKey = createHmac('sha256', key).update('names').digest();
  const nameOf = (name: string): string => createHmac('sha256', nameKey).update(name).digest('base64url');
  return {
    nameOf,
    seal(plainName: string, text: string) {
      const name = nameOf(plainName);
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name));
      const sealed = Buffer.concat([cipher.update(deflateRawSync(text)), cipher.final()]);
      return { name, value: Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64') };
    },
    lookup(plainName: string): Lookup {
      const name = nameOf(plainName);
      return { name, open: (value) => open(key, name, value) };
    },
  };
};

const open = (key: Buffer, name: string, value: string): string | undefined => {
  try {
    const bytes = Buffer.from(value, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(name))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    const packed = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
    return inflateRawSync(packed, { maxOutputLength: maxTextBytes }).toString();
  } catch {
    return undefined;
  }
};
