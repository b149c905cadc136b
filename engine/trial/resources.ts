import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { placeOf } from '../config/custom/load-module.ts';
import { currentStage } from '../config/custom/stage-context.ts';

/** A timer, a socket … of a stage; its kind by Node.js' name. */
interface Resource {
  readonly kind: string;
  readonly resource: object;
  /** The line that made it. */
  readonly place: string | undefined;
}

/** The watch of the current execution. */
const watches = new AsyncLocalStorage<ResourceWatch>();

/** Resources that keep a process alive after a stage is done with a request, for users. */
const names: Readonly<Record<string, string>> = {
  FSEVENTWRAP: 'a watched file',
  HTTPCLIENTREQUEST: 'a connection',
  MESSAGEPORT: 'a thread',
  PIPEWRAP: 'a connection',
  PROCESSWRAP: 'a process',
  STATWATCHER: 'a watched file',
  TCPSERVERWRAP: 'a server',
  TCPWRAP: 'a connection',
  TLSWRAP: 'a connection',
  UDPWRAP: 'a socket',
  WORKER: 'a thread',
};

/** How long what a stage has ended may take until it is gone, in milliseconds. */
const graceMs = 250;
const lookMs = 5;

/** Sees what a stage's own code opens: timers, connections, servers, files, processes. */
export class ResourceWatch {
  readonly #made = new Map<number, Resource>();
  readonly #hook = createHook({
    init: (id, kind, _, resource) => {
      if (watches.getStore() !== this || currentStage() === undefined) return;
      if (kind !== 'Timeout' && names[kind] === undefined) return;
      this.#made.set(id, { kind, resource, place: placeOf(new Error('made here')) });
    },
    destroy: (id) => {
      this.#made.delete(id);
    },
  });

  /** Runs work, and sees what stages open in it, until the watch is closed. */
  run<T>(work: () => T): T {
    this.#hook.enable();
    return watches.run(this, work);
  }

  /** What is left, in words: waits a little for what is about to end. Then no more is seen. */
  async left(open: () => readonly string[]): Promise<readonly string[]> {
    const untilMs = performance.now() + graceMs;
    while (this.#words(open).length > 0 && performance.now() < untilMs)
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    const words = this.#words(open);
    this.#hook.disable();
    this.#made.clear();
    return words;
  }

  #words(open: () => readonly string[]): readonly string[] {
    const made = [...this.#made.values()].filter(isAtWork).map(({ kind, resource, place }) => {
      const ms: unknown = Reflect.get(resource, '_idleTimeout');
      const what = kind === 'Timeout' ? `a timer of ${String(ms)} ms` : (names[kind] ?? kind);
      return place === undefined ? what : `${what} (${place})`;
    });
    return [...open(), ...new Set(made)];
  }
}

/** What doesn't keep a process alive is the pool's of a client of HTTP; but for an interval, which goes on. */
const isAtWork = ({ kind, resource }: Resource): boolean => {
  if (kind === 'Timeout' && typeof Reflect.get(resource, '_repeat') === 'number')
    return Reflect.get(resource, '_destroyed') !== true;
  return 'hasRef' in resource && typeof resource.hasRef === 'function' && resource.hasRef() === true;
};
