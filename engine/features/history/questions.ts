import Type, { type Static } from 'typebox';
import { listOf, Wire } from '../../model/schema-parts.ts';
import { HourFigures, InFlight, RequestSummary } from '../record/schema.ts';

/** Questions to other processes that only read. */
export const HistoryReading = Type.Union([
  /** Summaries numbered above `after`, up to `until`; the newest `limit`. */
  Type.Object({
    kind: Type.Literal('requests'),
    after: Type.Integer(),
    until: Type.Integer(),
    limit: Type.Integer(),
    /** Only those of this client. */
    client: Type.Optional(Type.String({ maxLength: 1_000 })),
  }),
  /** All data of one request; no answer if there is none. */
  Type.Object({ kind: Type.Literal('request'), id: Type.String({ maxLength: 1_000 }) }),
  /** Current activity and the traffic of the last minutes. */
  Type.Object({ kind: Type.Literal('activity'), minutes: Type.Integer({ minimum: 0, maximum: 60 }) }),
]);
export type HistoryReading = Static<typeof HistoryReading>;

/** A process's question to the others about their requests. */
export const HistoryQuestion = Type.Union([
  HistoryReading,
  /** The state of capturing, which `on` switches first. */
  Type.Object({ kind: Type.Literal('capture'), on: Type.Optional(Type.Boolean()) }),
  /** Remove what has ended from memory, and with `everything` also what is kept of it on disk. */
  Type.Object({ kind: Type.Literal('clear'), everything: Type.Optional(Type.Boolean()) }),
]);
export type HistoryQuestion = Static<typeof HistoryQuestion>;

/** Answer to `requests`. */
export const RequestsAnswer = Type.Object({ newest: Type.Integer(), requests: listOf(RequestSummary) });
export type RequestsAnswer = Static<typeof RequestsAnswer>;

/** Answer to `request`. */
export const RequestAnswer = Type.Object({
  /** The compressed capture, as base64. */
  capture: Type.Optional(Type.String()),
  summary: Type.Optional(RequestSummary),
  running: Type.Boolean(),
});
export type RequestAnswer = Static<typeof RequestAnswer>;

/** Mergeable figures of one client protocol's requests to one model. */
export const RouteFigures = Type.Object({
  protocol: Wire,
  provider: Type.String(),
  model: Type.String(),
  requests: Type.Integer(),
  errors: Type.Integer(),
  losses: Type.Integer(),
  active: Type.Integer(),
  /** Requests that began lately. */
  recent: Type.Integer(),
  /** Milliseconds of the last requests. */
  durations: listOf(Type.Number()),
  firstBytes: listOf(Type.Number()),
});
export type RouteFigures = Static<typeof RouteFigures>;

/** Requests of one step of time: the number of the step since 1970, and times to the first byte by class. */
const TrafficCounts = Type.Object({
  step: Type.Integer(),
  began: Type.Integer(),
  ended: Type.Integer(),
  failed: Type.Integer(),
  firstBytes: listOf(Type.Integer()),
});
export type TrafficCounts = Static<typeof TrafficCounts>;

/** Requests of one line in one minute, which is numbered since 1970. */
const RouteMinute = Type.Object({
  protocol: Wire,
  provider: Type.String(),
  model: Type.String(),
  minute: Type.Integer(),
  began: Type.Integer(),
  failed: Type.Integer(),
});
export type RouteMinute = Static<typeof RouteMinute>;

/** Answer to `activity`. */
export const ActivityAnswer = Type.Object({
  inFlight: listOf(InFlight),
  inFlightCount: Type.Integer(),
  lines: listOf(RouteFigures),
  /** Absent: a machine with an earlier version. */
  lastHour: Type.Optional(HourFigures),
  traffic: listOf(TrafficCounts),
  lineMinutes: listOf(RouteMinute),
});
export type ActivityAnswer = Static<typeof ActivityAnswer>;
