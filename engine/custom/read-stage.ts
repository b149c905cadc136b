import type { OpenStage } from './stage-operators.ts';

/**
 * A module's default export → its stage: a transformer, a stage as such, or a function of the options that gives one of both.
 * Rejects with what is wrong with its shape, with what the function throws, and with options that don't fit.
 */
export const readStage = async (exported: unknown, options: unknown): Promise<OpenStage> => {
  if (exported === undefined) throw new Error('its module has no default export');
  const given: unknown = typeof exported === 'function' ? await exported(options) : exported;
  const stage: unknown = isTransformer(given) ? given.configure(options) : given;
  const problem = problemOf(stage);
  if (problem !== undefined) throw new Error(problem);
  // The halves' own types can't be seen from outside; what they give is checked when they run.
  return stage as OpenStage;
};

const isTransformer = (value: unknown): value is { readonly configure: (options: unknown) => unknown } =>
  isRecord(value) && typeof value.configure === 'function';

const problemOf = (stage: unknown): string | undefined => {
  if (!isRecord(stage))
    return 'its default export must be a transformer, or a function of its options that returns one';
  const { name, request, events, operators = {} } = stage;
  if (typeof name !== 'string' || name.trim() === '') return 'it has no name';
  if (!isOptional(request, 'function')) return 'its request half must be a function';
  if (events !== undefined && !(isRecord(events) && typeof events.start === 'function'))
    return 'its events half must be a machine; an RxJS operator belongs into operators.events';
  if (!isRecord(operators)) return 'its operators must be an object';
  for (const half of ['request', 'events'] as const) {
    if (!isOptional(operators[half], 'function')) return `its operators.${half} must be an RxJS operator`;
    if (operators[half] !== undefined && stage[half] !== undefined) return `it has its ${half} half twice`;
  }
  const has = request ?? events ?? operators.request ?? operators.events;
  return has === undefined ? 'it has neither a request half nor an events half' : undefined;
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isOptional = (value: unknown, type: 'function'): boolean => value === undefined || typeof value === type;
