import type { Config } from './config/config.ts';
import type { Environment } from './config/env.ts';
import type { ConfigStore } from './config/files/store.ts';
import type { RequestAdmission } from './exchange.ts';
import type { DocumentedRoute } from './http/documented-route.ts';
import type { Fleet } from './hub/fleet.ts';
import type { Hub } from './hub/hub.ts';
import type { ClientProtocol } from './model/protocol.ts';
import type { Reader } from './model/schema.ts';
import type { Family } from './observe/families.ts';
import type { RequestListener } from './observe/listener.ts';
import type { Logs } from './observe/log/logs.ts';
import type { HiddenText } from './observe/log/mask-text.ts';
import type { LossSeries } from './observe/loss-counter.ts';
import type { Metric } from './observe/metric.ts';
import type { RecordListener, RequestRecord, RequestRecords } from './request-record.ts';
import type { CurrentGateway, Gateway } from './routing/gateway.ts';
import type { ToldUse } from './store/client-use.ts';
import type { AskStore } from './store/questions.ts';

/**
 * What a request is admitted for: an answer of a model; a count, which takes no tokens; or a call of a stage, as part of an answer. The
 * operator allows that one's destination.
 */
export interface AdmissionRequest {
  readonly gateway: Gateway;
  /** The client whose own key the request carries. Others are not admitted by features. */
  readonly namedClient: string;
  readonly preset: string | undefined;
  readonly use: 'answer' | 'count' | 'stage';
}

/** Answers what a feature asks itself in another process of the service, or on another node. `undefined`: it isn't its question. */
interface Question {
  readonly own: (asked: unknown) => Promise<string | undefined> | undefined;
  readonly forNode: (asked: unknown) => Promise<readonly string[]> | undefined;
}

/** A feature's question: its shape and its answers, which are JSON texts. The one that asks puts them together. */
interface QuestionForm<Asked, Read extends Asked> {
  readonly shape: Pick<Reader<Asked>, 'matches'>;
  /** This process's answer; `undefined`: it has nothing to say. */
  readonly own: (asked: Asked) => Promise<string | undefined>;
  /** The read-only questions of other nodes; absent: none. */
  readonly node?: {
    readonly shape: Pick<Reader<Read>, 'matches'>;
    /** Merges the answers of this node's processes. */
    readonly answers: (asked: Read) => Promise<readonly string[]>;
  };
}

export const questionOf = <Asked, Read extends Asked>({ shape, own, node }: QuestionForm<Asked, Read>): Question => ({
  own: (asked) => (shape.matches(asked) ? own(asked) : undefined),
  forNode: (asked) => (node?.shape.matches(asked) ? node.answers(asked) : undefined),
});

/** Other processes of the service. */
export interface OtherProcesses<Asked extends object = object> {
  /** Whether there are or were any. */
  readonly isShared: () => boolean;
  /** Asks each of them a feature's question. The answers that came in time. */
  readonly ask: (asked: Asked) => Promise<readonly string[]>;
}

/** The other nodes' answers, each for all of its processes. */
export interface NodeAnswers {
  /** All nodes of the fleet, this one included, and those whose answer came in time. */
  readonly heard: { readonly known: number; readonly heard: number };
  /** `id` tells nodes of one name apart. */
  readonly answers: readonly { readonly id: string; readonly machine: string; readonly text: string }[];
}

/** Other nodes of the fleet. They are read, never changed. */
export interface OtherNodes<Asked extends object = object> {
  readonly isShared: () => boolean;
  /** Asks each of them its own question. */
  readonly ask: (questionOf: (id: string) => Asked) => Promise<NodeAnswers>;
}

/** Maximum length of an answer to a question, in characters; longer ones are dropped. */
export const maxAnswer = 16 << 20;

/**
 * Something that the gateway does around serving requests. A request needs none of it: without a feature, its answer is the same.
 * Each member is optional, and what is absent costs nothing. Called in the order of the list of features.
 */
export interface Feature {
  /** Listens to all model requests. For a request with a listener of its own, `began` adds it to the record. */
  readonly listener?: RecordListener;
  /**
   * Decides what a client with a key of its own may use; `undefined`: anything. The only member that may refuse a request. Throws an
   * `unauthorized` fault if the key has been revoked since the request's head arrived.
   */
  readonly admit?: (
    request: AdmissionRequest,
  ) => (RequestAdmission & RequestListener<readonly [record?: RequestRecord]>) | undefined;
  readonly routes?: readonly DocumentedRoute[];
  readonly metrics?: readonly Metric[];
  /** The metrics of all processes of the service; those of this one if the others don't answer. One feature has it. */
  readonly families?: () => Promise<readonly Family[]>;
  /** Asks the store of requests that ended. One feature has it. */
  readonly askStore?: AskStore;
  /** Asks other nodes. One feature has it. */
  readonly nodes?: OtherNodes;
  /** The questions that the feature asks itself in other processes and on other nodes. */
  readonly question?: Question;
  /** Hands over what it has counted so far to the process that keeps it. Never rejects. */
  readonly write?: () => Promise<void>;
  /** Called before a configuration comes into use, for what it needs; if it rejects, the configuration isn't used. */
  readonly prepare?: (config: Gateway['config']) => Promise<unknown>;
  /** Requests were kept, of which clients have used this. */
  readonly clientsKept?: (told: ToldUse) => void;
  /** Called with each gateway that replaces the one before. */
  readonly reloaded?: (gateway: Gateway) => void;
  /** A request was refused for its key, for this reason. */
  readonly keyRefused?: (reason: string) => void;
  /** Called once the port is open. */
  readonly listening?: () => void;
  /** Called when the service begins to stop: ends answers that would last. */
  readonly stopping?: () => void;
  /** Releases what it holds, once no request is served any more. */
  readonly close?: () => Promise<void>;
}

/** The services that features are opened with: the parts of the process that outlive each gateway. */
export interface FeatureServices {
  readonly env: Environment;
  /** The service's folder. */
  readonly home: string;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** The same by a monotonic clock. */
  readonly steadyNowMs: () => number;
  readonly logs: Logs;
  /** The configuration of the start, for settings that take effect after a restart. */
  readonly startConfig: Config;
  readonly current: CurrentGateway;
  readonly store: ConfigStore;
  /** The current gateway, or that of a preset. */
  readonly gatewayOf: (preset: string | undefined) => Promise<Gateway>;
  /** The client protocols. */
  readonly protocols: readonly ClientProtocol[];
  /** The secrets, which are masked wherever they could be shown. */
  readonly secrets: () => readonly HiddenText[];
  /** A secret of the service's folder, from which names are derived. */
  readonly sessionSecret: () => string;
  /** Losses per field since the start. */
  readonly losses: () => readonly LossSeries[];
  /** The requests in flight. */
  readonly active: RequestRecords['active'];
  /** Start of the service, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** The service's URL for this node, once it listens. */
  readonly baseUrl: () => string;
  /** The same for other nodes. */
  readonly outerUrl: () => string;
  /** Number of serving processes. */
  readonly workers: () => number;
  /** State shared by the processes of the service; absent: this one stays the only one. */
  readonly hub: Hub | undefined;
  /** This process as a member of its fleet; absent: there is only this node. */
  readonly fleet: Fleet | undefined;
  /** The other processes; absent: there are never any. */
  readonly processes: OtherProcesses | undefined;
  /** Services that features provide for each other. */
  readonly features: FeatureSum;
}

/** What all features come to. */
interface FeatureSum {
  readonly metrics: () => readonly Metric[];
  readonly families: () => Promise<readonly Family[]>;
  /** `undefined`: there are never any. */
  readonly nodes: () => OtherNodes | undefined;
  readonly askStore: AskStore;
  readonly clientsKept: (told: ToldUse) => void;
  /** Has all processes of the service write what they have counted. */
  readonly write: () => Promise<void>;
  /** Answers another node's question; `undefined`: it isn't one that other nodes may ask. */
  readonly answerNode: (asked: unknown) => Promise<readonly string[] | undefined>;
}

/** A feature's folder, as `engine/features/<name>/index.ts` exports it. `Services`: what it is opened with. */
export interface FeatureFolder<Services extends FeatureServices = FeatureServices> {
  /** Whether the feature is needed. If not, its code isn't loaded; it is asked again with each configuration. */
  readonly configured: (config: Config, services: Services) => boolean;
  /** Loads and opens the feature, once. */
  readonly open: (services: Services) => Promise<Feature>;
  /** Routes that are there while it isn't open. */
  readonly closedRoutes?: (services: Services) => readonly DocumentedRoute[];
}

/** The admission of the first feature that admits requests. */
export const admissionOf = (features: readonly Pick<Feature, 'admit'>[]): Feature['admit'] =>
  features.find(({ admit }) => admit !== undefined)?.admit;
