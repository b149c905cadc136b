import { type Check, type Grammar, grammarOf } from '../../engine/model/grammar.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';

/*
 * The rules of replies with decisions, as far as both formats have them; their own are in the table of dialects. There are no streams.
 * Sources: those of the dialects.
 */

type DecisionRule =
  /** The model's name, and answers. */
  | 'answers'
  /** Counts of tokens. */
  | 'usage'
  /** There is no stream. */
  | 'stream';

type Checking = Check<DecisionRule>;

const counts = ['input_tokens', 'output_tokens'] as const;

const read = (body: JsonObject, check: Checking): void => {
  if ((body.error ?? body.detail ?? null) !== null) return;
  check.name(body.model, 'answers', 'model');
  const answers = body.answers ?? null;
  check.must(typeof answers === 'object' && answers !== null, 'answers', 'answers', 'answers', answers);
  if ((body.usage ?? null) === null) return;
  const usage = check.object(body.usage, 'usage', 'usage');
  for (const name of counts) if ((usage[name] ?? null) !== null) check.count(usage[name], 'usage', `usage.${name}`);
};

/** Rules for servers of the formats. */
export const decisionsGrammar: Grammar = grammarOf<DecisionRule, object>({
  initial: () => ({}),
  record: (_, { data }, check) => void check.must(false, 'stream', '', 'one whole reply', data),
  end: () => undefined,
  reply: read,
});
