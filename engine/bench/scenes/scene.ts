import type { LaneGroup } from '../lane.ts';
import type { Load } from '../load/start-load.ts';
import type { Figure, Span } from '../measure/figure.ts';
import type { ForeignLoad } from '../measure/foreign-load.ts';
import type { Target } from '../targets/target.ts';
import type { Upstream } from '../upstream/start-upstream.ts';
import type { Pair } from '../wire.ts';

/** What of a run can be chosen. */
export interface Settings {
  readonly pairs: readonly Pair[];
  readonly targets: readonly Target[];
  /** Fewer and shorter rounds, and the pair's own floor alone: to look at while one works. */
  readonly quick: boolean;
  /** Rounds of each participant in `pairs`, and their length; absent: the usual ones. */
  readonly rounds?: number;
  readonly roundMs?: number;
  /** What `pairs` measures; absent: all pairs, with this package's own configuration. */
  readonly lanes?: readonly LaneGroup[];
  /** As in `LoadJob`. */
  readonly check?: 'form';
}

/** What a scene has at hand. */
export interface Stage {
  readonly settings: Settings;
  readonly upstream: Upstream;
  readonly load: Omit<Load, 'pid'>;
  /** Watched during each round. */
  readonly foreign: ForeignLoad;
  /** Whether the system tells the processor time and memory of other processes. */
  readonly hasProcessorTime: boolean;
  /** Says what is being done, on one line that the next one replaces. Throws once the user has interrupted the run. */
  readonly progress: (text: string) => void;
}

/** What a participant cost and did in one scene. */
export interface Row {
  readonly scene: string;
  readonly pair: string;
  /** A gateway's name, or a floor: `direct`, `bytes`, `converted`, `bare`. */
  readonly participant: string;
  /** What is counted: requests, deltas, or a thing of its own. */
  readonly unit: 'request' | 'delta' | 'stream' | 'event' | 'start' | 'process';
  /** Processor time of the whole process tree per unit. */
  readonly cpuUs?: Figure;
  /** Of `cpuUs`, that of the threads that serve: the cheapest tenth of the rounds ends at `p10`. */
  readonly mainUs?: { readonly p10: number; readonly median: number };
  /** Figures of each round, in the same order for all participants. */
  readonly rounds?: {
    readonly cpuUs: readonly number[];
    /** Medians. */
    readonly firstTokenMs: readonly number[];
    readonly peakMb: readonly number[];
  };
  /** The same beside a floor's in the same round. */
  readonly ratio?: Ratio;
  /** The same beside the first gateway's, for those after it. */
  readonly beside?: Ratio;
  /** Allocated on V8's heap per unit, in KB of 1,000 bytes. */
  readonly allocatedKb?: number;
  /** Garbage collections per 1,000 requests, all rounds together: of young objects, and of the whole heap. */
  readonly collections?: { readonly scavenges: number; readonly marks: number };
  /** Requests a second that were sent, in a sweep. */
  readonly asked?: number;
  /** Requests, or deltas, a second of wall time. */
  readonly perSecond?: number;
  /** From the meant start to the answer's end. */
  readonly latencyMs?: Quantiles;
  /** From the meant start to the first token's arrival, or to a whole answer's first bytes. */
  readonly firstTokenMs?: Quantiles;
  /** Between the arrivals of two tokens of an answer. */
  readonly betweenTokensMs?: Quantiles;
  /** From a delta's sending to its arrival. */
  readonly delayMs?: Quantiles;
  /** The most resident memory while it was measured. */
  readonly peakMb?: number;
  /** Share of one processor core that the load generator used. */
  readonly loadShare?: number;
  /** Resident memory of a process that does nothing. */
  readonly idleMb?: number;
  /** Requests a second if its busiest process had a core of its own all the time. */
  readonly capacity?: number;
  /** Its capacity beside that of one process. */
  readonly scaling?: number;
  /** Longest stretch for which the event loop stood still. */
  readonly longestBlockMs?: number;
  /** Seconds from the start of the program to the first answer. */
  readonly startSeconds?: number;
  /** Its code was perhaps still being compiled. */
  readonly isCold?: true;
  /** What else is to be known. */
  readonly note?: string;
  /** Why there are no figures, or why they mean nothing: an answer was wrong, or missing. */
  readonly failed?: string;
}

/** Of many times, in milliseconds. */
export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

/** How many times as much as another participant. */
export interface Ratio extends Figure {
  readonly to: string;
  /** How much more, in µs per unit. */
  readonly moreUs?: Span;
}

/** Something that is measured under a name. */
export interface Scene {
  readonly name: string;
  /** Other names under which it is chosen. */
  readonly groups: readonly string[];
  readonly about: string;
  /** Cores without which it isn't played; absent: any machine will do. */
  readonly needsCores?: number;
  /** No HTTP server is in it. */
  readonly simulatesSockets?: boolean;
  /** Not played where the system doesn't tell the processor time and the memory of other processes. */
  readonly needsProcessorTime?: true;
  /** The longest that it takes, if the machine isn't busy. */
  readonly seconds: (settings: Settings) => number;
  readonly run: (stage: Stage) => Promise<readonly Row[]>;
}
