import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/** Every connection reads into it: what arrives is dealt with before the next read. */
const readInto = Buffer.allocUnsafe(65_536);

/** Opens a TCP connection, with TLS if it `isSecure`. The bytes that `read` gets are overwritten after the call. */
export const connectTo = (host: string, port: number, read: (bytes: Buffer) => void, isSecure = false): Socket => {
  const options: TcpNetConnectOpts = {
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
  };
  return isSecure ? connectSecurely({ ...options, servername: host, ALPNProtocols: ['http/1.1'] }) : connect(options);
};
