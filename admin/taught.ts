import type { Provider } from '../engine/config/config.ts';
import type { Lesson } from '../engine/model/upstream-error/lesson.ts';
import type { TaughtMemory } from '../engine/routing/taught.ts';
import type { UpstreamRow } from './schema.ts';

/** What the refusals of a provider have taught. */
export const taughtRows = (provider: Provider | undefined, memory: TaughtMemory): UpstreamRow['taught'] =>
  provider
    ? memory.ofProvider(provider).map(([model, { lesson, seen, untilMs }]) => ({
        model,
        field: lesson.field,
        does: describe(lesson),
        seen,
        until: new Date(untilMs).toISOString(),
        config: configFor(lesson),
      }))
    : [];

const describe = (lesson: Lesson): string => {
  switch (lesson.does) {
    case 'leave':
      return lesson.beside === undefined ? 'left out' : `left out beside ${lesson.beside}`;
    case 'replace':
      return `replaced by the nearest of ${lesson.allowed.join(', ')}`;
    case 'bound':
      return `kept within ${lesson.min ?? 'any'} and ${lesson.max ?? 'any'}`;
    case 'rename':
      return `sent as ${lesson.to}`;
    case 'limit':
      return `at most ${lesson.max}`;
    case 'fit':
      return `fitted to a window of ${lesson.window}`;
    case 'beta':
      return 'left out of the header of betas';
    default:
      return lesson satisfies never;
  }
};

/** The members of a provider or model in the configuration that say the same for good; `null`: there are none. */
const configFor = (lesson: Lesson): string | null => {
  switch (lesson.does) {
    case 'leave':
      return lesson.field.includes('[]') || lesson.beside !== undefined
        ? null
        : JSON.stringify({ body: nested(lesson.field.split('.')) });
    case 'limit':
      return JSON.stringify({ maxOutput: lesson.max });
    case 'fit':
      return JSON.stringify({ context: lesson.window });
    case 'replace':
    case 'bound':
    case 'rename':
    case 'beta':
      return null;
    default:
      return lesson satisfies never;
  }
};

/** A merge patch that removes a member. */
const nested = ([name = '', ...rest]: readonly string[]): object => ({ [name]: rest.length > 0 ? nested(rest) : null });
