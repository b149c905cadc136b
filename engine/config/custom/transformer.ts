import type { Observable } from 'rxjs';
import Type, { type Static, type TSchema } from 'typebox';
import type { ModelEvent } from '../../model/event.ts';
import type { Losses } from '../../model/loss.ts';
import type { Machine } from '../../model/machine.ts';
import type { ModelRequest } from '../../model/request.ts';
import { readerOfOptions } from '../../model/schema.ts';
import {
  type CallChanges,
  type ProviderCall,
  type Transformer,
  type TransformerSpec,
  transformer,
} from '../../model/transformer.ts';
import type { When } from '../rule-schema.ts';
import type { Answer, Around, Next, StageContext, StageDestination, StageReplyContext } from './around.ts';

/**
 * The declaration of a custom transformer: as a built-in one, with operators for asynchronous halves, or with one function around all
 * that follows. Its functions also get the context of the request.
 */
export interface OpenSpec<S extends TSchema>
  extends Omit<TransformerSpec<S>, 'request' | 'events' | 'call'>,
    OpenHalves<Static<S>> {}

interface OpenHalves<Options> {
  /** Which requests it is for, as in an entry's `when`: all others pass as if it weren't there. Absent: all. */
  readonly when?: When;
  /** Whether it is for requests that go to this destination. Absent: for all. */
  readonly concerns?: (target: StageDestination, options: Options) => boolean;
  /** It asks models, always or with these options, so its entry must name at least one in `ask`. */
  readonly asks?: true | ((options: Options) => boolean);
  readonly request?: (request: ModelRequest, options: Options, losses: Losses, context: StageContext) => ModelRequest;
  /** `undefined` if these options leave the answer unchanged, so that it can be relayed. */
  readonly events?: (options: Options) => Machine<ModelEvent, ModelEvent, StageReplyContext> | undefined;
  readonly call?: (call: ProviderCall, options: Options, context: StageContext) => CallChanges | undefined;
  readonly operators?: (options: Options) => StageOperators;
  /** Instead of all halves. */
  readonly around?: Around<Options>;
}

/** A transformer whose stages may have operators, or be around the rest. */
export interface OpenTransformer extends Omit<Transformer, 'configure'> {
  /** It asks models, always or with some options. */
  readonly asks?: true;
  readonly configure: (options: unknown) => OpenStage;
}

/** The declaration of a transformer without an options schema. */
type PlainSpec = Omit<OpenSpec<typeof anyOptions>, 'options'>;

const anyOptions = Type.Object({});

/**
 * Declares a custom transformer. Options are checked against the schema before any function gets them; without a schema any
 * options are valid.
 */
export function customTransformer<const S extends TSchema>(spec: OpenSpec<S>): OpenTransformer;
export function customTransformer(spec: PlainSpec): OpenTransformer;
export function customTransformer(spec: PlainSpec | OpenSpec<TSchema>): OpenTransformer {
  return 'options' in spec && spec.options !== undefined ? declare(spec) : declare({ ...spec, options: anyOptions });
}

const declare = <const S extends TSchema>(spec: OpenSpec<S>): OpenTransformer => {
  const { name, about, when, concerns, asks, request, call, around } = spec;
  const optionsReader = readerOfOptions(spec.options);
  return {
    ...transformer({ name, ...(about !== undefined && { about }), options: spec.options }),
    halves: {
      request: request !== undefined,
      events: spec.events !== undefined,
      call: call !== undefined,
      ...(around && { around: true }),
    },
    ...(asks && { asks: true }),
    configure(given) {
      const options = optionsReader.read(given, 'options');
      const events = spec.events?.(options);
      const operators = spec.operators?.(options);
      return {
        name,
        ...(when && { when }),
        ...(concerns && { concerns: (target) => concerns(target, options) }),
        ...((typeof asks === 'function' ? asks(options) : asks) && { asks: true }),
        ...(request && { request: (asked, losses, context) => request(asked, options, losses, context) }),
        ...(events && { events }),
        ...(call && { call: (sent, context) => call(sent, options, context) }),
        ...(operators && { operators }),
        ...(around && { around: (asked, next, context) => around(asked, next, context, options) }),
      };
    },
  };
};

/** An RxJS operator that also gets the context of the request. */
export type StageOperator<T> = (source: Observable<T>, context: StageContext) => Observable<T>;

/** Halves of a stage as RxJS operators over the typed model. They may be asynchronous: call a service, wait, throttle. */
export interface StageOperators {
  /** Receives one request; emits one request and completes. */
  readonly request?: StageOperator<ModelRequest>;
  /** Receives one batch of events per chunk of the upstream's answer, or a single batch if it isn't streamed. */
  readonly events?: StageOperator<readonly ModelEvent[]>;
}

/** A stage whose halves may be operators, each of which has one of the two forms; or one function around the rest. */
export interface OpenStage {
  readonly name: string;
  readonly when?: When;
  readonly concerns?: (target: StageDestination) => boolean;
  readonly asks?: true;
  readonly request?: (request: ModelRequest, losses: Losses, context: StageContext) => ModelRequest;
  readonly events?: Machine<ModelEvent, ModelEvent, StageReplyContext>;
  readonly call?: (call: ProviderCall, context: StageContext) => CallChanges | undefined;
  readonly operators?: StageOperators;
  readonly around?: (request: ModelRequest, next: Next, context: StageContext) => Answer | Promise<Answer>;
}
