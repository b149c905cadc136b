import type { Config, Provider } from '../config/config.ts';
import type { Destination } from '../config/sections/destination.ts';
import type { Lesson } from '../model/upstream-error/lesson.ts';
import { requestMembers } from '../model/upstream-error/taught-fields.ts';
import { learns, type Taught, type TaughtMemory } from './taught.ts';

/** A lesson for people. Times are in ISO 8601. */
interface ShownLesson {
  readonly model: string;
  readonly field: string;
  /** The action on the field. */
  readonly does: string;
  /** The refusal's words. */
  readonly words: string;
  /** Refusals that said so. */
  readonly seen: number;
  readonly since: string;
  readonly until: string;
  /** The members of the model's entry in `models` that say the same for good; `null`: there are none. */
  readonly config: string | null;
}

interface Known {
  readonly config: Pick<Config, 'learn'>;
  readonly taught: TaughtMemory;
}

/** All that a provider's refusals have taught; nothing if they don't teach. */
export const lessonsOfProvider = (provider: Provider, { config, taught }: Known): readonly ShownLesson[] =>
  learns(config, provider) ? taught.ofProvider(provider).map(([model, one]) => show(model, one)) : [];

/** The lessons that apply to requests to a model now. */
export const lessonsInForce = (at: Destination, { config, taught }: Known): readonly ShownLesson[] =>
  learns(config, at.provider) ? taught.inForce(at).map((one) => show(at.model, one)) : [];

const show = (model: string, { lesson, words, seen, sinceMs, untilMs }: Taught): ShownLesson => ({
  model,
  field: lesson.field,
  does: describe(lesson),
  words,
  seen,
  since: new Date(sinceMs).toISOString(),
  until: new Date(untilMs).toISOString(),
  config: configFor(lesson),
});

const describe = (lesson: Lesson): string => {
  switch (lesson.does) {
    case 'leave':
      return lesson.beside === undefined ? 'left out' : `left out beside ${lesson.beside}`;
    case 'replace':
      return `replaced by the nearest of ${lesson.allowed.join(', ')}`;
    case 'bound':
      if (lesson.min === undefined) return `at most ${lesson.max}`;
      return lesson.max === undefined ? `at least ${lesson.min}` : `kept between ${lesson.min} and ${lesson.max}`;
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

const configFor = (lesson: Lesson): string | null => {
  switch (lesson.does) {
    case 'leave':
      return requestMembers.has(rootOf(lesson.field)) || lesson.beside !== undefined
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

/** The member of the body that a path begins with. */
const rootOf = (path: string): string => (path.split('.', 1)[0] ?? '').replace('[]', '');

/** A merge patch that removes a member. */
const nested = ([name = '', ...rest]: readonly string[]): object => ({ [name]: rest.length > 0 ? nested(rest) : null });
