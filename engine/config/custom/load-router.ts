import { resolve } from 'node:path';
import { from, type Observable, type OperatorFunction, of } from 'rxjs';
import { messageOf } from '../../model/fault.ts';
import type { JsonObject } from '../../model/json/json.ts';
import type { ModelRequest } from '../../model/request.ts';
import type { ClientWire } from '../../model/wire/client-wires.ts';
import type { RouterModule } from '../config.ts';
import type { Finding } from '../diagnostics.ts';
import { findModule, loadCommonModule, loadModule, type ModulePlaces } from './load-module.ts';
import { asStage, operatorWithin } from './stage-context.ts';

/** The argument of a router module. */
export interface RouteQuestion {
  readonly request: ModelRequest;
  readonly client: ClientWire;
  /** As sent, without the preset. */
  readonly path: string;
  readonly preset: string | undefined;
  /** The name of the client whose key the request carries. */
  readonly key: string | undefined;
  /** A header by lower-case name; credentials are left out. */
  readonly header: (name: string) => string | undefined;
  /** When the request arrived, in milliseconds since 1970. */
  readonly atMs: number;
  /** Counts the tokens of the prompt. */
  readonly tokens: () => Promise<number>;
}

/** What a router module returns: a destination, several in the order in which they are tried, or nothing, so that the rules decide. */
export type RouteAnswer = string | undefined | { readonly to: string | readonly string[]; readonly reason?: string };

/** The argument of a router module in the older form, instead of a `RouteQuestion`. */
export interface OlderQuestion {
  readonly request: {
    /** As a Messages client would send it. */
    readonly body: JsonObject;
    readonly tokenCount: number;
  };
  /** Providers and routes, without credentials. */
  readonly config: JsonObject;
}

/** A loaded router module: the form of its argument, and its function. The result may be anything. */
type RouterChoice =
  | { readonly form: 'question'; readonly choose: (question: RouteQuestion) => Observable<unknown> }
  | { readonly form: 'older'; readonly choose: (question: OlderQuestion) => Observable<unknown> };

/** The result of loading the module of `Router.module`. */
export type LoadedRouter = (RouterChoice | { readonly form: 'unusable'; readonly findings: readonly Finding[] }) & {
  /** Path of the module, existing or not. */
  readonly file: string;
  /** Its path as configured, for messages. */
  readonly name: string;
};

/** Reloads the router module. Never rejects: a module that fails to load is unusable. `undefined`: none is configured. */
export const loadRouter = async (
  module: RouterModule | undefined,
  places: ModulePlaces,
): Promise<LoadedRouter | undefined> => {
  if (!module) return undefined;
  const { path, form } = module;
  const at = { file: resolve(places.home, path), name: path };
  try {
    const file = await findModule(path, places);
    const exported = await asStage(path, () => (form === 'messages' ? loadCommonModule(file) : loadModule(file)));
    return { ...at, file, ...choiceOf(path, form, exported) };
  } catch (error) {
    const message = `can't be used: ${path}: ${messageOf(error)}`;
    return { ...at, form: 'unusable', findings: [{ path: 'Router.module', message }] };
  }
};

const choiceOf = (name: string, form: RouterModule['form'], exported: unknown): RouterChoice => {
  if (form === 'messages') {
    if (!isFunction(exported)) throw new Error('its export must be a function of a request and the configuration');
    return { form: 'older', choose: ({ request, config }) => answered(asStage(name, () => exported(request, config))) };
  }
  if (isFunction(exported))
    return { form: 'question', choose: (question) => answered(asStage(name, () => exported(question))) };
  const operator = typeof exported === 'object' && exported !== null && 'operator' in exported && exported.operator;
  if (!isFunction(operator)) throw new Error('its default export must be a function, or an object with an `operator`');
  // The types can't be checked here; what the operator emits is checked when it runs.
  const run = operatorWithin(name, operator as OperatorFunction<RouteQuestion, unknown>);
  return { form: 'question', choose: (question) => of(question).pipe(run) };
};

const isFunction = (value: unknown): value is (...given: readonly unknown[]) => unknown => typeof value === 'function';

const answered = (answer: unknown): Observable<unknown> => from(Promise.resolve(answer));
