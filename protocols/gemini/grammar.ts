import { type Check, type Grammar, grammarOf } from '../../engine/model/grammar.ts';
import type { Json, JsonObject } from '../../engine/model/json/json.ts';

/*
 * The rules of Gemini's `generateContent`. Source: Gemini API reference, "Generating content", `GenerateContentResponse`; the types of
 * `@google/genai` 3.3, as of November 2026; recorded traffic. A stream has no terminal record: it ends with its finish, by closing.
 */

type GeminiRule =
  /** Records stand in `data:` lines, without `event:` lines. */
  | 'framing'
  /** A record is a JSON object. */
  | 'json'
  /** Nothing follows an error. */
  | 'order'
  /** The stream has a finish, a reason why the prompt is blocked, or an error. */
  | 'end'
  /** A candidate and its index. */
  | 'candidates'
  /** Content of the model, and parts of one kind each. */
  | 'content'
  /** A call has a name, and an object as its arguments. */
  | 'call'
  /** The reason is one of the reference. */
  | 'finish-reason'
  /** No content with text or a call behind the finish. */
  | 'finish-order'
  /** Counts of tokens. */
  | 'usage'
  /** `totalTokenCount` is the sum. */
  | 'usage-sum'
  | 'error';

interface State {
  phase: 'open' | 'finished' | 'over';
}

type Checking = Check<GeminiRule>;

const finishReasons: ReadonlySet<string> = new Set([
  'STOP',
  'MAX_TOKENS',
  'CONTINUATION',
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'MODEL_ARMOR',
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'LANGUAGE',
  'OTHER',
  'NO_IMAGE',
  'IMAGE_OTHER',
  'FINISH_REASON_UNSPECIFIED',
]);

const kinds = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
] as const;

const read = (state: State, body: JsonObject, check: Checking): void => {
  if (!check.must(state.phase !== 'over', 'order', '', 'nothing behind an error', Object.keys(body))) return;
  if ((body.error ?? null) !== null) {
    state.phase = 'over';
    checkError(body, check);
    return;
  }
  if ((body.usageMetadata ?? null) !== null) checkUsage(body.usageMetadata, check);
  const candidates = check.list(body.candidates ?? [], 'candidates', 'candidates');
  check.must(candidates.length <= 1, 'candidates', 'candidates', 'at most one candidate', candidates.length);
  const feedback = body.promptFeedback ?? null;
  if (feedback !== null) {
    const blocked = check.object(feedback, 'candidates', 'promptFeedback').blockReason ?? null;
    if (blocked !== null) state.phase = 'finished';
  }
  const [first] = candidates;
  if (first !== undefined) readCandidate(state, check.object(first, 'candidates', 'candidates[0]'), check);
};

const readCandidate = (state: State, candidate: JsonObject, check: Checking): void => {
  const at = 'candidates[0]';
  check.must((candidate.index ?? 0) === 0, 'candidates', `${at}.index`, '0', candidate.index);
  const content = check.object(candidate.content ?? {}, 'content', `${at}.content`);
  const role = content.role ?? 'model';
  check.must(role === 'model', 'content', `${at}.content.role`, '"model"', role);
  for (const [index, part] of check.list(content.parts ?? [], 'content', `${at}.content.parts`).entries()) {
    readPart(
      state,
      check.object(part, 'content', `${at}.content.parts[${index}]`),
      `${at}.content.parts[${index}]`,
      check,
    );
  }
  const reason = candidate.finishReason ?? null;
  if (reason === null) return;
  const isKnown = typeof reason === 'string' && finishReasons.has(reason);
  check.must(isKnown, 'finish-reason', `${at}.finishReason`, 'a reason of the reference', reason);
  if (state.phase === 'open') state.phase = 'finished';
};

const readPart = (state: State, part: JsonObject, at: string, check: Checking): void => {
  const held = kinds.filter((kind) => (part[kind] ?? null) !== null);
  check.must(held.length <= 1, 'content', at, 'content of one kind', [...held]);
  const isContent = held.some((kind) => kind !== 'text' || part.text !== '');
  check.must(!isContent || state.phase === 'open', 'finish-order', at, 'no content behind the finish', part);
  if (held.includes('text')) check.text(part.text, 'content', `${at}.text`);
  if (!held.includes('functionCall')) return;
  const call = check.object(part.functionCall, 'call', `${at}.functionCall`);
  check.name(call.name, 'call', `${at}.functionCall.name`);
  if ((call.args ?? null) !== null) check.object(call.args, 'call', `${at}.functionCall.args`);
};

/** What the total is the sum of. */
const summed = ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'toolUsePromptTokenCount'] as const;

const checkUsage = (value: Json | undefined, check: Checking): void => {
  const usage = check.object(value, 'usage', 'usageMetadata');
  let sum = 0;
  for (const name of summed) {
    if ((usage[name] ?? null) !== null) sum += check.count(usage[name], 'usage', `usageMetadata.${name}`);
  }
  if ((usage.totalTokenCount ?? null) === null) return;
  const total = check.count(usage.totalTokenCount, 'usage', 'usageMetadata.totalTokenCount');
  // The first records of a stream lack the output.
  const isWhole = (usage.candidatesTokenCount ?? null) !== null;
  const fits = isWhole ? total === sum : total >= sum;
  check.must(fits, 'usage-sum', 'usageMetadata.totalTokenCount', isWhole ? String(sum) : `${sum} or more`, total);
};

const checkError = (body: JsonObject, check: Checking): void => {
  const error = check.object(body.error, 'error', 'error');
  check.count(error.code, 'error', 'error.code');
  check.text(error.message, 'error', 'error.message');
  check.name(error.status, 'error', 'error.status');
};

/** What servers of the format send. */
export const geminiServerGrammar: Grammar = grammarOf<GeminiRule, State>({
  initial: () => ({ phase: 'open' }),
  record(state, sse, check) {
    check.must(sse.event === '', 'framing', '', 'no event: line', sse.event);
    const data = check.data(sse, 'framing', 'json');
    if (data) read(state, data, check);
  },
  end: ({ phase }, check) => void check.must(phase !== 'open', 'end', '', 'a finishReason, or an error'),
  reply(body, check) {
    const state: State = { phase: 'open' };
    read(state, body, check);
    check.must(state.phase !== 'open', 'end', '', 'a finishReason, or an error');
  },
});
