import type { ModelRequest } from '../model/request.ts';

/** What a stage gave, if it can be a request at all; a module's author may have given a promise, or forgotten to return. */
export const asRequest = (given: unknown): ModelRequest => {
  if (isRequest(given)) return given;
  throw new TypeError(
    `the stage gave ${given instanceof Promise ? 'a promise' : 'something else'} instead of a request`,
  );
};

/** Looks at the members that every step relies on, not at all of them. */
const isRequest = (given: unknown): given is ModelRequest =>
  typeof given === 'object' &&
  given !== null &&
  'turns' in given &&
  Array.isArray(given.turns) &&
  'system' in given &&
  Array.isArray(given.system) &&
  'tools' in given &&
  Array.isArray(given.tools) &&
  'stream' in given &&
  typeof given.stream === 'boolean';
