import type { MonoTypeOperatorFunction } from 'rxjs';
import Type, { type Static, type TSchema } from 'typebox';
import type { ModelEvent } from '../../model/event.ts';
import type { ModelRequest } from '../../model/request.ts';
import { reader } from '../../model/schema.ts';
import { type Stage, type Transformer, type TransformerSpec, transformer } from '../../model/transformer.ts';

/** The declaration of a custom transformer: as a built-in one, or with operators for asynchronous halves. */
export interface OpenSpec<S extends TSchema> extends TransformerSpec<S> {
  readonly operators?: (options: Static<S>) => StageOperators;
}

/** A transformer whose stages may have operators. */
export interface OpenTransformer extends Transformer {
  readonly configure: (options: unknown) => OpenStage;
}

/** The declaration of a transformer without an options schema. */
type PlainSpec = Omit<OpenSpec<typeof anyOptions>, 'options'>;

const anyOptions = Type.Object({});

/**
 * Declares a custom transformer. Options are checked against the schema before any function gets them; without a schema any
 * options are valid.
 */
export function customTransformer<const S extends TSchema>(spec: OpenSpec<S>): OpenTransformer;
export function customTransformer(spec: PlainSpec): OpenTransformer;
export function customTransformer(spec: PlainSpec | OpenSpec<TSchema>): OpenTransformer {
  return 'options' in spec && spec.options !== undefined ? declare(spec) : declare({ ...spec, options: anyOptions });
}

const declare = <const S extends TSchema>(spec: OpenSpec<S>): OpenTransformer => {
  const pure = transformer(spec);
  const { operators } = spec;
  if (!operators) return pure;
  const optionsReader = reader(spec.options, { compiled: false });
  return {
    ...pure,
    configure: (given) => ({
      ...pure.configure(given),
      operators: operators(optionsReader.read(given ?? {}, 'options')),
    }),
  };
};

/** Halves of a stage as RxJS operators over the typed model. They may be asynchronous: call a service, wait, throttle. */
export interface StageOperators {
  /** Receives one request; emits one request and completes. */
  readonly request?: MonoTypeOperatorFunction<ModelRequest>;
  /** Receives one batch of events per chunk of the upstream's answer, or a single batch if it isn't streamed. */
  readonly events?: MonoTypeOperatorFunction<readonly ModelEvent[]>;
}

/** A stage whose halves may be operators; each half has one of the two forms. */
export interface OpenStage extends Stage {
  readonly operators?: StageOperators;
}
