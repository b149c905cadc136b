import { connect, type Socket } from 'node:net';

/** Every connection reads into it: what arrives is dealt with before the next read. */
const readInto = Buffer.allocUnsafe(65_536);

/** Opens a TCP connection. The bytes that `read` gets are overwritten after the call. */
export const connectTo = (host: string, port: number, read: (bytes: Buffer) => void): Socket =>
  connect({
    host,
    port,
    noDelay: true,
    onread: {
      buffer: readInto,
      callback: (length, bytes) => {
        read(Buffer.from(bytes.buffer, bytes.byteOffset, length));
        return true;
      },
    },
  });
