import type { Protocol } from '../../../api/protocols.ts';
import type { Shell } from './shell.ts';

/** How the gateway is reached from here. */
export interface Connection {
  /** `http://127.0.0.1:3456`, as this page was opened. */
  readonly origin: string;
  /** The gateway asks for a key. Where it doesn't, programs still want some value. */
  readonly wantsKey: boolean;
  /** The model that the examples ask for. */
  readonly model: string;
  /** Every name that may be asked for. */
  readonly models: readonly string[];
}

/** A text to copy. */
interface Snippet {
  /** Where it goes: a shell, a file. */
  readonly label: string;
  readonly text: string;
}

/** How one program is pointed at the gateway. */
export interface ClientGuide {
  /** Unique, without spaces. */
  readonly name: string;
  readonly title: string;
  /** The protocol it speaks when it is set up like this. */
  readonly protocol: Protocol;
  /** The address that it is given ends in `/v1`, or it adds that by itself. */
  readonly base: 'with /v1' | 'without /v1';
  readonly snippets: (connection: Connection, shell: Shell) => readonly Snippet[];
  /** What else one should know. */
  readonly notes: readonly string[];
  /** Where its requests arrive, when that isn't the protocol's own path. */
  readonly path?: string;
  /** Headers that it sends with them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The address that a program is given. */
export const baseOf = ({ origin }: Connection, base: ClientGuide['base']): string =>
  base === 'with /v1' ? `${origin}/v1` : origin;
