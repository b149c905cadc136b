/** The part of pino-roll that is used here; the package brings no types. Source: pino-roll 4.0.0, README and source. */
declare module 'pino-roll' {
  import type { EventEmitter } from 'node:events';

  namespace roll {
    /**
     * A SonicBoom stream that moves on to the next file by itself. Events: `ready` when a file has been opened, `drain` when
     * all was written, `error`, `close`.
     */
    interface RollStream extends EventEmitter {
      /** The file it writes to, or is about to open. */
      readonly file: string;
      write(text: string): boolean;
      /** Writes what waits, then closes. */
      end(): void;
      /** Closes at once. */
      destroy(): void;
    }

    interface RollOptions {
      /** Path to which `.1.log`, `.2.log` … are added. */
      readonly file: string;
      /** Bytes with the unit `b`: `1000b`. */
      readonly size: string;
      readonly frequency?: 'daily' | number;
      readonly mkdir: boolean;
      readonly sync: boolean;
      /** Permissions of new files. */
      readonly mode: number;
    }
  }

  function roll(options: roll.RollOptions): Promise<roll.RollStream>;
  export = roll;
}
