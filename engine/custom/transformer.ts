import type { Static, TSchema } from 'typebox';
import { reader } from '../model/schema.ts';
import { transformer as pureTransformer, type Transformer, type TransformerSpec } from '../model/transformer.ts';
import type { OpenStage, StageOperators } from './stage-operators.ts';

/** How a custom transformer is declared: as a built-in one, or with operators for a half that takes its time. */
export interface OpenSpec<S extends TSchema> extends TransformerSpec<S> {
  readonly operators?: (options: Static<S>) => StageOperators;
}

/** A transformer whose stages may have operators. */
export interface OpenTransformer extends Transformer {
  readonly configure: (options: unknown) => OpenStage;
}

/** Declares a custom transformer. Its stages' options are checked against the schema before any function here sees them. */
export const transformer = <const S extends TSchema>(spec: OpenSpec<S>): OpenTransformer => {
  const pure = pureTransformer(spec);
  const { operators } = spec;
  if (!operators) return pure;
  const optionsReader = reader(spec.options);
  return {
    ...pure,
    configure: (given) => ({
      ...pure.configure(given),
      operators: operators(optionsReader.read(given ?? {}, 'options')),
    }),
  };
};
