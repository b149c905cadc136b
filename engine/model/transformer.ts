import type { Static, TSchema } from 'typebox';
import type { ModelEvent } from './event.ts';
import type { Losses } from './loss.ts';
import type { Machine } from './machine.ts';
import type { UpstreamProtocol } from './protocol.ts';
import type { ModelRequest } from './request.ts';
import { type Reader, reader } from './schema.ts';

/** A transformer with its options: one layer around the upstream. A half that it doesn't touch is absent. */
export interface Stage {
  readonly name: string;
  readonly request?: (request: ModelRequest, losses: Losses) => ModelRequest;
  readonly events?: Machine<ModelEvent, ModelEvent>;
}

/** A named kind of stage, as the configuration's `transformers` list uses it. */
export interface Transformer {
  readonly name: string;
  /** Schema of its options; also feeds the docs and the web interface. */
  readonly options: TSchema;
  readonly optionsReader: Reader<unknown>;
  /** The stage with these options. Throws an `invalid-request` fault for options that don't fit the schema. */
  readonly configure: (options: unknown) => Stage;
}

/** How a transformer is declared: pure functions of its options. */
export interface TransformerSpec<S extends TSchema> {
  readonly name: string;
  readonly options: S;
  readonly request?: (request: ModelRequest, options: Static<S>, losses: Losses) => ModelRequest;
  readonly events?: (options: Static<S>) => Machine<ModelEvent, ModelEvent>;
}

export const transformer = <const S extends TSchema>(spec: TransformerSpec<S>): Transformer => {
  const optionsReader = reader(spec.options);
  return {
    name: spec.name,
    options: spec.options,
    optionsReader,
    configure(given) {
      const options = optionsReader.read(given ?? {}, 'options');
      const { request, events } = spec;
      return {
        name: spec.name,
        ...(request && { request: (asked: ModelRequest, losses: Losses) => request(asked, options, losses) }),
        ...(events && { events: events(options) }),
      };
    },
  };
};

/** A vendor's row: a wire protocol plus the vendor's own differences. */
export interface Format {
  readonly name: string;
  /** Hosts by which a provider without a format entry is recognised; a host also stands for those below it. */
  readonly hosts: readonly string[];
  /** How a provider of this vendor is set up when its key is in the environment and there is no configuration yet. */
  readonly firstStart?: {
    /** The environment variable that holds the key. */
    readonly variable: string;
    readonly baseUrl: string;
    /** The first one becomes the default. */
    readonly models: readonly string[];
  };
  /** The path that it calls, below the base URL's version segment; `{model}` stands for the model's name. */
  readonly path: string;
  /** The path for streamed answers, where that is another. */
  readonly streamPath?: string;
  /** The protocol as this provider speaks it. */
  readonly protocol: (target: Target) => UpstreamProtocol;
  /** Credentials and what else the vendor wants in the head. */
  readonly headers: (call: Call) => Readonly<Record<string, string>>;
}

/** The provider a format is used for. */
export interface Target {
  readonly baseUrl: URL;
  readonly options: Readonly<Record<string, unknown>>;
}

/** One call of a provider. */
export interface Call {
  readonly apiKey: string;
  /** A header of the client's request, by lower-case name. */
  readonly clientHeader: (name: string) => string | undefined;
  readonly request: ModelRequest;
}
