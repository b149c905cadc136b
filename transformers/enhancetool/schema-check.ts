import { Errors } from 'typebox/schema';
import type { Json, JsonObject } from '../../engine/model/json/json.ts';
import { checkableSchema } from './checkable-schema.ts';
import type { Work } from './work.ts';

/** A position that requires another type. */
interface TypeError {
  readonly path: readonly string[];
  readonly types: readonly string[];
}

/** Checks values against a tool's schema. An invalid schema, or a used-up budget, accepts everything. */
export class SchemaCheck {
  readonly #schema: JsonObject;

  constructor(schema: JsonObject, work: Work) {
    this.#schema = checkableSchema(schema, (size) => {
      if (!work.take(size)) throw new Error('The work is used up.');
      return undefined;
    });
  }

  /** The first error, such as `/city must be string`; `undefined` without one. */
  misfit(value: Json | undefined): string | undefined {
    const first = this.#errors(value)[0];
    return first && `${first.instancePath} ${first.message}`.trim();
  }

  /** The positions that require another type; several for one position if the schema allows several. */
  typeErrors(value: Json | undefined): readonly TypeError[] {
    return this.#errors(value).flatMap((error) => {
      if (error.keyword !== 'type') return [];
      const types = typeof error.params.type === 'string' ? [error.params.type] : [...new Set(error.params.type)];
      return [{ path: stepsOf(error.instancePath), types }];
    });
  }

  #errors(value: Json | undefined) {
    try {
      return Errors(this.#schema, value)[1];
    } catch {
      // The schema is invalid, refers to itself endlessly, or takes too long.
      return [];
    }
  }
}

const stepsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
