import { hash } from 'node:crypto';
import { catchError, from, map, mergeMap, type Observable, of, tap } from 'rxjs';
import { decisionIn, whole } from '../config/custom/answers.ts';
import type { StageMemory } from '../config/custom/around.ts';
import { findDestination } from '../config/sections/destination.ts';
import { type Decoded, fill } from '../exchange.ts';
import { decisionRequest } from '../model/decision.ts';
import { FaultError, faultOf } from '../model/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import { lastOwnText } from '../model/trajectory.ts';
import type { Gateway } from '../routing/gateway.ts';
import { destinationName } from '../routing/model-names.ts';
import { type Decided, type Decides, Decisions, decidedText } from '../routing/rules/decisions.ts';
import { factsOf, type RequestFacts } from '../routing/rules/request-facts.ts';
import type { PromptSize } from '../routing/tokens/prompt-tokens.ts';
import { sequence } from './rx/sequence.ts';
import { maxCallDepth, wholeWithin } from './stage-questions.ts';

/**
 * Judges a request by conditions, for `then`. What they need is found out one after another, only if the verdict depends on it: the count
 * of tokens, which `then` gets if it was needed, and what models decide. `evaluate` gives `undefined` while something is open.
 */
export const judge = <T, R>(
  gateway: Gateway,
  decoded: Decoded,
  evaluate: (facts: RequestFacts) => T | undefined,
  then: (verdict: T | undefined, size?: PromptSize) => R | Observable<R>,
): R | Observable<R> => {
  const { tokens } = gateway;
  if (gateway.decides && !decoded.decisions) fill(decoded, { decisions: new Decisions() });
  const { decisions } = decoded;
  const go = (size?: PromptSize): R | Observable<R> => {
    decisions?.begin();
    const verdict = evaluate(factsOf(decoded, tokens, size));
    if (verdict !== undefined) return then(verdict, size);
    if (!size && (decisions?.needsCount ?? true))
      return from(tokens.count(decoded.request, decoded.outline)).pipe(sequence((count) => go(count)));
    const open = decisions?.open;
    if (!decisions || !open) return then(undefined, size);
    return decide(gateway, decoded, open).pipe(
      sequence((decided) => {
        decisions.know(open, decided);
        return go(size);
      }),
    );
  };
  return go();
};

/** Lifetime of a cached decision, in milliseconds. */
const keptMs = 600_000;

/** The name of the memory, which no stage can have. */
const memoryName = 'Router.rules';

/** The most of the user's text that a model gets, in characters: its beginning and its end. */
const maxAbout = 8_000;

/** Asks a model, unless the same was asked about the same text before. Never fails: without an answer it says why. */
const decide = (gateway: Gateway, decoded: Decoded, decides: Decides): Observable<Decided> => {
  const about = aboutOf(decoded);
  if (about === '') return of(noAnswer('the user has said nothing'));
  const memory = gateway.stageMemories.of(memoryName);
  const name = hash('sha256', `${decides.key}\0${about}`, 'base64url');
  return from(memory.get(name)).pipe(
    catchError(() => of(undefined)),
    mergeMap((kept) => {
      const known = keptDecision(kept, decides);
      if (known) return of(known);
      return ask(gateway, decoded, decides, about).pipe(tap((decided) => keep(memory, name, decided)));
    }),
    tap((decided) => report(decoded, decides, decided)),
  );
};

const ask = (
  { config }: Gateway,
  { calls, request }: Decoded,
  decides: Decides,
  about: string,
): Observable<Decided> => {
  const { owner, ask: asked, question, answers, limitMs } = decides;
  if (!calls) return of({ type: 'none', isAsked: false, why: 'not asked' });
  if (request.decision) return of(noAnswer('a question asks none itself'));
  if (calls.depth >= maxCallDepth) return of(noAnswer('too deep within the calls of stages'));
  if (calls.left.count <= 0) return of(noAnswer('the request has caused all calls that it may'));
  calls.left.count -= 1;
  const found = findDestination(config, asked);
  const call = {
    kind: 'decide',
    stage: owner,
    request: decisionRequest({ question, answers, about }),
    to: found ? destinationName(found) : asked,
    after: -1,
  } as const;
  return whole(calls.run(call).pipe(wholeWithin(limitMs, () => new Late()))).pipe(
    map((reply): Decided => {
      const decision = decisionIn(reply, answers);
      return decision
        ? { type: 'answer', ...decision }
        : noAnswer('the answer is another one', reply.text.slice(0, 200));
    }),
    catchError((error: unknown) => {
      if (error instanceof Late) return of(noAnswer(`none within ${limitMs} ms`));
      const { kind, message } = faultOf(error);
      return of(noAnswer(kind, message));
    }),
  );
};

class Late extends Error {}

const noAnswer = (why: string, detail?: string): Decided => ({
  type: 'none',
  isAsked: true,
  why,
  ...(detail !== undefined && { detail }),
});

/** The user's last words. Of long ones, the beginning and the end. */
const aboutOf = ({ request, outline }: Decoded): string => {
  const text = lastOwnText(request, { restore: outline?.restore });
  return text.length > maxAbout ? `${text.slice(0, maxAbout / 2)}\n…\n${text.slice(-maxAbout / 2)}` : text;
};

/** A decision as this module has kept it, maybe in an older version. */
const keptDecision = (kept: Json | undefined, { answers }: Decides): Decided | undefined => {
  if (!isJsonObject(kept)) return undefined;
  const answer = answers.find((one) => one === kept.answer);
  if (answer === undefined) return undefined;
  const { probabilities: given } = kept;
  const probabilities = isJsonObject(given)
    ? Object.fromEntries(
        Object.entries(given).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
      )
    : undefined;
  return { type: 'answer', answer, probabilities };
};

/** One that can't be kept is used all the same. */
const keep = (memory: StageMemory, name: string, decided: Decided): void => {
  if (decided.type !== 'answer') return;
  const { answer, probabilities } = decided;
  try {
    memory.set(name, { answer, ...(probabilities && { probabilities }) }, { ms: keptMs });
  } catch (error) {
    if (!(error instanceof FaultError)) throw error;
  }
};

/** Adds a decision to the request's path, and to the log. */
const report = ({ listener }: Decoded, decides: Decides, decided: Decided): void => {
  if (decided.type === 'none' && !decided.isAsked) return;
  const { ask: asked, question, owner } = decides;
  const fields: JsonObject =
    decided.type === 'answer'
      ? {
          ask: asked,
          question,
          answer: decided.answer,
          ...(decided.probabilities && { probabilities: decided.probabilities }),
        }
      : { ask: asked, question, why: decided.why, ...(decided.detail !== undefined && { detail: decided.detail }) };
  listener.stageLogged?.(owner, decidedText(decides, decided), fields);
};
