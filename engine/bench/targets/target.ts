import type { FeatureName } from '../../service/features.ts';
import type { Wire } from '../wire.ts';

/** What a gateway under test is started for. */
interface TargetOptions {
  /** `http://127.0.0.1:41234`, where the simulated upstream is. */
  readonly upstreamUrl: string;
  /** What the upstream speaks. */
  readonly upstream: Wire;
  /** Processes that shall serve. */
  readonly workers: number;
  /** To be added to the environment of its processes. */
  readonly env: Readonly<Record<string, string>>;
}

/** A gateway that serves. */
export interface RunningTarget {
  /** The process at the root of all it consists of. */
  readonly pid: number;
  /** Clients post to this and their protocol's path. */
  readonly baseUrl: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends it and all its processes, and removes its files. */
  readonly stop: () => Promise<void>;
}

/** A gateway that can be measured: one file beside this one, or anywhere, that exports it as `target`. */
export interface Target {
  readonly name: string;
  /**
   * Starts it with logging on. It must route the model `bench-model`, a bare name, to the upstream. Resolves once it takes
   * connections; rejects with an error worded for users when it doesn't speak what is asked for.
   */
  readonly start: (options: TargetOptions) => Promise<RunningTarget>;
  /** How it is run between simulated sockets; absent: it can't be. */
  readonly own?: OwnService;
}

/** What is configured besides the bench's own. */
export interface Additions {
  readonly APIKEY?: string;
  readonly LOG?: boolean;
  readonly HISTORY?: object;
  readonly Providers?: readonly object[];
  readonly Pools?: readonly object[];
  readonly FLEET?: object;
  readonly rules?: readonly object[];
  readonly transformers?: readonly object[];
  /** Folders that custom transformers may be loaded from. */
  readonly folders?: readonly string[];
}

/** A gateway of this project, and how it is configured. */
export interface OwnService {
  /** The checkout or package. */
  readonly folder: string;
  readonly additions: Additions;
  /** Features that watch no requests. */
  readonly without?: readonly FeatureName[];
}
