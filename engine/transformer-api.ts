/** All that a custom transformer needs, as `switchyard/transformer`. Additions are safe; changes break users' modules. */
export * as rx from 'rxjs';
export { type Static, Type } from 'typebox';
export type { OpenStage, StageOperators } from './custom/stage-operators.ts';
export { type OpenSpec, type OpenTransformer, transformer } from './custom/transformer.ts';
export type {
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
} from './model/event.ts';
export { type Fault, FaultError, type FaultKind, fail } from './model/fault.ts';
export type { Json, JsonObject } from './model/json.ts';
export type { Loss, Losses } from './model/loss.ts';
export { type Machine, type MachineSpec, machine } from './model/machine.ts';
export type { ReplyContext } from './model/protocol.ts';
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
export { inputObject, inputText } from './model/tool-input.ts';
export type { Usage } from './model/usage.ts';
