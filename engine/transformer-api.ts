/** The public API for custom transformers, exported as `junctor/transformer`. Changes break users' modules; additions don't. */
export * as rx from 'rxjs';
export { type Static, Type } from 'typebox';
export { answer, lastText, replayEvents as replay, untilContent, whole } from './config/custom/answers.ts';
export type {
  Answer,
  Around,
  Asked,
  AskOptions,
  DecideOptions,
  Decision,
  Fetched,
  FetchOptions,
  Next,
  NextOptions,
  Spent,
  StageClient,
  StageContext,
  StageDestination,
  StageMemory,
  StageReplyContext,
  StageTarget,
  WholeAnswer as Reply,
} from './config/custom/around.ts';
export { type AnswerText, coalesce, mapText, passOver } from './config/custom/helpers/map-text.ts';
export { mapTexts, type TextPlace } from './config/custom/helpers/map-texts.ts';
export type { RouteAnswer, RouteQuestion } from './config/custom/load-router.ts';
export type { OpenStage, StageOperator, StageOperators } from './config/custom/transformer.ts';
export { customTransformer as transformer, type OpenSpec, type OpenTransformer } from './config/custom/transformer.ts';
export type { ReplyContext } from './model/context.ts';
export type {
  Batch,
  Block,
  BlockStart,
  BlockStop,
  ErrorEvent,
  FinishReason,
  InputDelta,
  MessageStart,
  MessageStop,
  ModelEvent,
  TextDelta,
  ThinkingDelta,
  Usage,
} from './model/event.ts';
export { type Fault, FaultError, type FaultKind, fail } from './model/fault.ts';
export type { Json, JsonObject } from './model/json/json.ts';
export type { Loss, Losses } from './model/loss.ts';
export { type Machine, type MachineSpec, machine } from './model/machine.ts';
export type {
  ImagePart,
  ModelRequest,
  Part,
  Reasoning,
  TextPart,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
  Turn,
} from './model/request.ts';
export { inputObject, inputText } from './model/request.ts';
export { type Trajectory, trajectory } from './model/trajectory.ts';
export type { CallChanges, ProviderCall } from './model/transformer.ts';
