import type { Static, TSchema } from 'typebox';
import Type from 'typebox';
import type { ModelEvent } from './event.ts';
import type { JsonObject } from './json/json.ts';
import type { Losses } from './loss.ts';
import type { Machine } from './machine.ts';
import type { VendorModels } from './models/model-catalog.ts';
import type { VendorFacts } from './models/model-facts.ts';
import type { UpstreamProtocol } from './protocol.ts';
import type { ModelRequest, WireFormat } from './request.ts';
import { type Reader, reader, readerOfOptions } from './schema.ts';

/** A transformer with its options applied: one layer around the upstream. Absent halves change nothing. */
export interface Stage {
  readonly name: string;
  readonly request?: (request: ModelRequest, losses: Losses) => ModelRequest;
  readonly events?: Machine<ModelEvent, ModelEvent>;
  /** Changes the HTTP request to the provider, whether it is converted or relayed. */
  readonly call?: (call: ProviderCall) => CallChanges | undefined;
}

/** The HTTP request to the provider, as a stage sees it. */
export interface ProviderCall {
  /** By lower-case name, without those that hold credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** In the provider's format; parsed when it is first read. */
  readonly body: JsonObject;
  /** The request that it was encoded from. If it is relayed, long texts may be shortened. */
  readonly request: ModelRequest;
}

/** A stage's changes to the HTTP request; `null` removes. */
export interface CallChanges {
  readonly headers?: Readonly<Record<string, string | null>>;
  /** A JSON Merge Patch of the body (RFC 7396). */
  readonly body?: JsonObject;
}

/** A named kind of stage, as used in the configuration's `transformers` list. */
export interface Transformer {
  readonly name: string;
  /** Its purpose, in one sentence for users. */
  readonly about?: string | undefined;
  /** The halves it has; options may disable one. `around`: it has none, and is around the call. */
  readonly halves: {
    readonly request: boolean;
    readonly events: boolean;
    readonly call: boolean;
    readonly around?: true;
  };
  /** Schema of its options; also feeds the docs and the web interface. */
  readonly options: TSchema;
  readonly optionsReader: Reader<unknown>;
  /** Creates the stage with these options. Throws an `invalid-request` fault for options that don't fit the schema. */
  readonly configure: (options: unknown) => Stage;
}

/** The declaration of a transformer: pure functions of its options. */
export interface TransformerSpec<S extends TSchema> {
  readonly name: string;
  /** Its purpose, in one sentence for users. */
  readonly about?: string;
  readonly options: S;
  readonly request?: (request: ModelRequest, options: Static<S>, losses: Losses) => ModelRequest;
  /** `undefined` if these options leave the answer unchanged, so that it can be relayed. */
  readonly events?: (options: Static<S>) => Machine<ModelEvent, ModelEvent> | undefined;
  readonly call?: (call: ProviderCall, options: Static<S>) => CallChanges | undefined;
}

export const transformer = <const S extends TSchema>(spec: TransformerSpec<S>): Transformer => {
  const optionsReader = readerOfOptions(spec.options);
  return {
    name: spec.name,
    about: spec.about,
    halves: {
      request: spec.request !== undefined,
      events: spec.events !== undefined,
      call: spec.call !== undefined,
    },
    options: spec.options,
    optionsReader,
    configure(given) {
      const options = optionsReader.read(given, 'options');
      const { request, call } = spec;
      const events = spec.events?.(options);
      return {
        name: spec.name,
        ...(request && { request: (asked: ModelRequest, losses: Losses) => request(asked, options, losses) }),
        ...(events && { events }),
        ...(call && { call: (sent: ProviderCall) => call(sent, options) }),
      };
    },
  };
};

/** A vendor's format: a wire protocol plus the vendor's differences. */
export interface Format {
  readonly name: string;
  /** Its protocol and vendor, in one sentence for users. */
  readonly about?: string;
  /** The vendor's name in the OpenTelemetry conventions for GenAI, if it isn't `name`. */
  readonly genAiName?: string;
  /** Hosts of providers that use this format without a format entry, subdomains included. */
  readonly hosts: readonly string[];
  /** Whether a provider without a format entry, at a host that serves several vendors' models, uses this format for the model. */
  readonly serves?: (baseUrl: URL, model: string) => boolean;
  /** The provider to configure on the first run when the vendor's key is in the environment. */
  readonly firstStart?: {
    /** The vendor's name as it is written. */
    readonly title: string;
    /** The environment variable that holds the key. */
    readonly variable: string;
    readonly baseUrl: string;
    /**
     * Known models, strongest first: the first becomes the default, the last serves background requests. The vendor's own list
     * takes precedence.
     */
    readonly models: readonly string[];
  };
  /** Schema of its options; also feeds the docs and the web interface. */
  readonly options: TSchema;
  readonly optionsReader: Reader<unknown>;
  /** Ends of a base URL's path that show the format, whatever the host. */
  readonly pathEnds?: readonly string[];
  /** Path of its calls, below the base URL's version segment; `{model}` stands for the model's name. */
  readonly path: string;
  /** The vendor's list of models; absent: unknown. */
  readonly models?: VendorModels;
  /** Whether a host lists the models next to the path for requests; absent: it does. */
  readonly lists?: (call: Pick<Call, 'baseUrl' | 'options'>) => boolean;
  /** The package's facts of the vendor's models. */
  readonly facts?: VendorFacts;
  /** Path of a particular call, if not `path`; `{model}` as there. */
  readonly pathFor?: (target: Target, request: ModelRequest) => string;
  /** The protocol with this provider's options. Throws an `invalid-request` fault for options that don't fit the schema. */
  readonly protocol: (target: Target) => UpstreamProtocol;
  /** The rows of the format's tables that this provider's dialect is made of, for users; absent: it has none. */
  readonly rows?: (target: Target) => readonly RowUse[];
  /** Credentials and other headers that the vendor requires. */
  readonly headers: (call: Call) => Readonly<Record<string, string>>;
  /** A JSON Merge Patch of the body where a host wants other members than the protocol has; absent, or `undefined`: none. */
  readonly bodyPatch?: (call: Call) => JsonObject | undefined;
  /** The endpoint that counts tokens. Absent, or `undefined`: next to the path for requests. */
  readonly counting?: (call: Pick<Call, 'baseUrl' | 'options'>) => Counting | undefined;
}

/** A vendor's endpoint for counts: its path and whether the body names the model; `none`: it has none, so counts are estimated. */
type Counting = 'none' | { readonly path: string };

/** The provider and model that a format is used for. */
export interface Target<Options = Readonly<Record<string, unknown>>> {
  readonly baseUrl: URL;
  readonly options: Options;
  /** The upstream's name of the requested model. */
  readonly model: string;
  /** Tokens that an answer of the model may have, where the configuration or the vendor's list says so. */
  readonly maxOutput?: number | undefined;
  /** The wire format whose requests may be relayed; `undefined` if a stage changes them. */
  readonly relays: WireFormat | undefined;
}

/**
 * Why a provider's format was chosen. `entry`: a configuration entry names it. `host`: the provider's host is its vendor's. `path`:
 * the end of the base URL's path shows it, at a host that isn't its vendor's. `plain`: the default.
 */
export type FormatReason = 'entry' | 'host' | 'path' | 'plain';

/** Whether the provider is known to be the format's vendor, not only a server like it. */
export const isVendors = (because: FormatReason): boolean => because === 'entry' || because === 'host';

/** A row of a format's table that applies to a provider or model, and how it was recognised. */
export interface RowUse {
  readonly kind: 'host' | 'family';
  readonly name: string;
  /** `option`: the configuration names it. `host`, `port`: the base URL's. `model`: the model's name. */
  readonly because: 'option' | 'host' | 'port' | 'model';
}

/** The declaration of a format: its functions get checked options. */
interface FormatSpec<S extends TSchema>
  extends Omit<Format, 'options' | 'optionsReader' | 'pathFor' | 'protocol' | 'rows'> {
  readonly options: S;
  readonly pathFor?: (target: Target<Static<S>>, request: ModelRequest) => string;
  readonly protocol: (target: Target<Static<S>>) => UpstreamProtocol;
  readonly rows?: (target: Target<Static<S>>) => readonly RowUse[];
}

/** Schema of a format without options. */
export const noOptions = Type.Object({}, { additionalProperties: false });

export const format = <const S extends TSchema>(spec: FormatSpec<S>): Format => {
  const optionsReader = reader(spec.options, { compiled: false });
  const { pathFor, protocol, rows, ...fields } = spec;
  /** A plan has one target, and each call asks for its path. */
  const known = new WeakMap<Target, Target<Static<S>>>();
  const checked = (target: Target): Target<Static<S>> => {
    const before = known.get(target);
    if (before) return before;
    const made = { ...target, options: optionsReader.read(target.options, 'options') };
    known.set(target, made);
    return made;
  };
  return {
    ...fields,
    optionsReader,
    protocol: (target) => protocol(checked(target)),
    ...(pathFor && { pathFor: (target: Target, request: ModelRequest) => pathFor(checked(target), request) }),
    ...(rows && { rows: (target: Target) => rows(checked(target)) }),
  };
};

/** One call to a provider. */
export interface Call {
  readonly apiKey: string;
  readonly baseUrl: URL;
  /** The format's options as configured, which may not fit its schema. */
  readonly options: Readonly<Record<string, unknown>>;
  /** A header of the client's request, by lower-case name. */
  readonly clientHeader: (name: string) => string | undefined;
  readonly request: ModelRequest;
  /** The wire format that the upstream speaks; absent: the call isn't a model's. */
  readonly wire?: WireFormat;
  /** The client's body is relayed. */
  readonly isRelayed?: boolean;
}

/** The usual key header; none without a configured key. */
export const bearer = ({ apiKey }: Call): Readonly<Record<string, string>> =>
  apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` };

/**
 * Models whose traits differ from those of their vendor's newest model, mostly by features they lack. A name that no entry
 * matches has all features: the vendor decides.
 */
export interface KnownModels<Traits> {
  /** Matches names from `plainName`. Must be linear: clients choose the names. */
  readonly names: RegExp;
  /** The differences; a function if they depend on the traits so far. */
  readonly differ: Partial<Traits> | ((traits: Traits) => Partial<Traits>);
}

/** The traits of a model: those of the newest one, overridden by every matching entry in order. */
export const traitsOf = <Traits extends object>(
  newest: Traits,
  known: readonly KnownModels<Traits>[],
  model: string,
): Traits => {
  const name = plainName(model);
  let traits = newest;
  for (const { names, differ } of known) {
    if (names.test(name)) traits = { ...traits, ...(typeof differ === 'function' ? differ(traits) : differ) };
  }
  return traits;
};

/** As `traitsOf`, for many requests: keeps the traits of the last model, since most callers have one. */
export const traitsByModel = <Traits extends object>(
  newest: Traits,
  known: readonly KnownModels<Traits>[],
): ((model: string) => Traits) => {
  let last: { readonly model: string; readonly traits: Traits } | undefined;
  return (model) => {
    if (last?.model !== model) last = { model, traits: traitsOf(newest, known, model) };
    return last.traits;
  };
};

/**
 * A model's name as in the tables: lower case, without the prefixes of routers (`vendor/`), fine-tuning (`ft:`) and clouds
 * (`region.vendor.`).
 */
export const plainName = (model: string): string =>
  model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^ft:/, '')
    .replace(/^(?:[a-z-]+\.)+/, '');
