import type { Usage } from '../model/event.ts';
import type { Fault } from '../model/fault.ts';
import type { Violation } from '../model/grammar.ts';
import type { JsonObject } from '../model/json/json.ts';
import type { Loss } from '../model/loss.ts';
import type { ObservedCall, ObservedFailure, ObservedRoute } from './observer.ts';

/**
 * Follows all requests without an object for each: its methods get the request's record, which is up to date. Each is called rarely,
 * at most about once per attempt.
 */
export interface Follower<Record> {
  readonly encoded?: (record: Record, ready: ObservedCall) => void;
  /** The answer of the last call lost fields, which `encoded` could not know. */
  readonly answerLost?: (record: Record, losses: readonly Loss[]) => void;
  readonly counted?: (record: Record, usage: Usage) => void;
  /** A fault occurred; each is reported once. */
  readonly faulted?: (record: Record, fault: Fault) => void;
  readonly stageFailed?: (record: Record, fault: Fault, cause: unknown) => void;
  readonly stageLogged?: (record: Record, stage: string, text: string, fields: JsonObject) => void;
  readonly violated?: (record: Record, violation: Violation, text: string) => void;
  readonly attemptFailed?: (record: Record, failure: ObservedFailure) => void;
  readonly retried?: (record: Record, reason: string) => void;
  readonly fellBack?: (record: Record, to: Omit<ObservedRoute, 'scenario'>) => void;
  readonly failed?: (record: Record, fault: Fault, error: unknown) => void;
  /** The request is over, and its record complete. Nothing of it may be kept: it holds the request. */
  readonly ended?: (record: Record) => void;
}

/** The methods of several followers, by name. */
export type Followed<Record> = {
  readonly [Name in keyof Follower<Record>]-?: readonly NonNullable<Follower<Record>[Name]>[];
};

/** Collects the followers' methods once, so that what none of them has costs nothing. */
export const followedBy = <Record>(followers: readonly Follower<Record>[]): Followed<Record> => ({
  encoded: followers.flatMap(({ encoded }) => encoded ?? []),
  answerLost: followers.flatMap(({ answerLost }) => answerLost ?? []),
  counted: followers.flatMap(({ counted }) => counted ?? []),
  faulted: followers.flatMap(({ faulted }) => faulted ?? []),
  stageFailed: followers.flatMap(({ stageFailed }) => stageFailed ?? []),
  stageLogged: followers.flatMap(({ stageLogged }) => stageLogged ?? []),
  violated: followers.flatMap(({ violated }) => violated ?? []),
  attemptFailed: followers.flatMap(({ attemptFailed }) => attemptFailed ?? []),
  retried: followers.flatMap(({ retried }) => retried ?? []),
  fellBack: followers.flatMap(({ fellBack }) => fellBack ?? []),
  failed: followers.flatMap(({ failed }) => failed ?? []),
  ended: followers.flatMap(({ ended }) => ended ?? []),
});
