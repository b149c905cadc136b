import Type, { type Static, type TSchema } from 'typebox';
import type { ModelEvent } from './event.ts';
import type { Losses } from './loss.ts';
import type { Machine } from './machine.ts';
import type { ModelList } from './model-list.ts';
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
  /** What it is for, in one sentence for users. */
  readonly about?: string | undefined;
  /** Which halves it has; options may switch one off. */
  readonly halves: { readonly request: boolean; readonly events: boolean };
  /** Schema of its options; also feeds the docs and the web interface. */
  readonly options: TSchema;
  readonly optionsReader: Reader<unknown>;
  /** The stage with these options. Throws an `invalid-request` fault for options that don't fit the schema. */
  readonly configure: (options: unknown) => Stage;
}

/** How a transformer is declared: pure functions of its options. */
export interface TransformerSpec<S extends TSchema> {
  readonly name: string;
  /** What it is for, in one sentence for users. */
  readonly about?: string;
  readonly options: S;
  readonly request?: (request: ModelRequest, options: Static<S>, losses: Losses) => ModelRequest;
  /** `undefined` where these options leave the answer alone, so that it may pass untouched. */
  readonly events?: (options: Static<S>) => Machine<ModelEvent, ModelEvent> | undefined;
}

export const transformer = <const S extends TSchema>(spec: TransformerSpec<S>): Transformer => {
  const optionsReader = reader(spec.options);
  return {
    name: spec.name,
    about: spec.about,
    halves: { request: spec.request !== undefined, events: spec.events !== undefined },
    options: spec.options,
    optionsReader,
    configure(given) {
      const options = optionsReader.read(given ?? {}, 'options');
      const { request } = spec;
      const events = spec.events?.(options);
      return {
        name: spec.name,
        ...(request && { request: (asked: ModelRequest, losses: Losses) => request(asked, options, losses) }),
        ...(events && { events }),
      };
    },
  };
};

/** A vendor's row: a wire protocol plus the vendor's own differences. */
export interface Format {
  readonly name: string;
  /** What it speaks to whom, in one sentence for users. */
  readonly about?: string;
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
  /** Schema of the options that an entry may give it; also feeds the docs and the web interface. */
  readonly options: TSchema;
  readonly optionsReader: Reader<unknown>;
  /** The path that it calls, below the base URL's version segment; `{model}` stands for the model's name. */
  readonly path: string;
  /** How the vendor lists its models; absent: not in a way that is known here. */
  readonly models?: ModelList;
  /** The path of this very call, where that isn't `path` with the model's name in its place. */
  readonly pathFor?: (target: Target, request: ModelRequest) => string;
  /** The protocol as this provider speaks it. Throws an `invalid-request` fault for options that don't fit the schema. */
  readonly protocol: (target: Target) => UpstreamProtocol;
  /** Credentials and what else the vendor wants in the head. */
  readonly headers: (call: Call) => Readonly<Record<string, string>>;
}

/** The provider a format is used for. */
export interface Target<Options = Readonly<Record<string, unknown>>> {
  readonly baseUrl: URL;
  readonly options: Options;
}

/** How a vendor's row is declared: its own part gets the options checked. */
export interface FormatSpec<S extends TSchema>
  extends Omit<Format, 'options' | 'optionsReader' | 'pathFor' | 'protocol'> {
  readonly options: S;
  readonly pathFor?: (target: Target<Static<S>>, request: ModelRequest) => string;
  readonly protocol: (target: Target<Static<S>>) => UpstreamProtocol;
}

/** A row that takes no options says so by this schema. */
export const noOptions = Type.Object({}, { additionalProperties: false });

export const format = <const S extends TSchema>(spec: FormatSpec<S>): Format => {
  const optionsReader = reader(spec.options);
  const { pathFor, protocol, ...row } = spec;
  const checked = ({ baseUrl, options }: Target): Target<Static<S>> => ({
    baseUrl,
    options: optionsReader.read(options, 'options'),
  });
  return {
    ...row,
    optionsReader,
    protocol: (target) => protocol(checked(target)),
    ...(pathFor && { pathFor: (target: Target, request: ModelRequest) => pathFor(checked(target), request) }),
  };
};

/** One call of a provider. */
export interface Call {
  readonly apiKey: string;
  /** A header of the client's request, by lower-case name. */
  readonly clientHeader: (name: string) => string | undefined;
  readonly request: ModelRequest;
}
