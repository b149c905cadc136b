/** The used part of pino-roll, which has no types of its own. Source: pino-roll 4.0.0, README and source. */
declare module 'pino-roll' {
  import type { EventEmitter } from 'node:events';

  namespace roll {
    /**
     * A SonicBoom stream that rotates its file. Events: `ready` when a file has been opened, `drain` when everything is
     * written, `error`, `close`.
     */
    interface RollStream extends EventEmitter {
      /** The current file, or the one about to be opened. */
      readonly file: string;
      write(bytes: Uint8Array): boolean;
      /** Writes buffered data, then closes. */
      end(): void;
      /** Closes at once. */
      destroy(): void;
    }

    interface RollOptions {
      /** Base path; `.1.log`, `.2.log` … are appended. */
      readonly file: string;
      /** Size in bytes with the unit `b`: `1000b`. */
      readonly size: string;
      readonly frequency?: 'daily' | number;
      readonly mkdir: boolean;
      readonly sync: boolean;
      readonly contentMode: 'buffer';
      /** Permissions of new files. */
      readonly mode: number;
    }
  }

  function roll(options: roll.RollOptions): Promise<roll.RollStream>;
  export = roll;
}
