import { Errors } from 'typebox/schema';
import type { Json, JsonObject } from '../../engine/model/json.ts';
import { checkableSchema } from './checkable-schema.ts';

/** A place where a value of another type is due. */
export interface TypeError {
  readonly path: readonly string[];
  readonly types: readonly string[];
}

/** A tool's schema at work. One that is no valid schema finds nothing wrong. */
export class SchemaCheck {
  readonly #schema: JsonObject;

  constructor(schema: JsonObject) {
    this.#schema = checkableSchema(schema);
  }

  /** The first thing wrong: `/city must be string`; `undefined` when nothing is. */
  misfit(value: Json | undefined): string | undefined {
    const first = this.#errors(value)[0];
    return first && `${first.instancePath} ${first.message}`.trim();
  }

  /** The places where another type is due; several for one place where the schema allows several. */
  typeErrors(value: Json | undefined): readonly TypeError[] {
    return this.#errors(value).flatMap((error) => {
      if (error.keyword !== 'type') return [];
      const types = typeof error.params.type === 'string' ? [error.params.type] : error.params.type;
      return [{ path: stepsOf(error.instancePath), types }];
    });
  }

  #errors(value: Json | undefined) {
    try {
      return Errors(this.#schema, value)[1];
    } catch {
      // No valid schema, or one that refers to itself without an end.
      return [];
    }
  }
}

const stepsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
