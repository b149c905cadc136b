import { defer, type MonoTypeOperatorFunction, map, Observable } from 'rxjs';
import type { Batch, ModelEvent } from '../../../model/event.ts';
import { fail } from '../../../model/fault.ts';

/** The texts of an answer. `input`: the JSON text of a tool call's arguments, in which a replacement must be escaped. */
export type AnswerText = 'text' | 'thinking' | 'input';

/** What `mapText` looks at. */
interface MapTextOptions {
  /**
   * Characters of the longest text that `change` replaces: this many are held back until more has come, so that a text that is cut between
   * deltas is found. Default: 64.
   */
  readonly lookbehind?: number;
  /** Default: `text` alone. */
  readonly in?: readonly AnswerText[];
}

/** Maps the text of an answer as it arrives. `change` replaces texts of at most `lookbehind` characters, each by itself. */
export const mapText =
  (
    change: (text: string, kind: AnswerText) => string,
    { lookbehind = 64, in: kinds = ['text'] }: MapTextOptions = {},
  ): MonoTypeOperatorFunction<Batch> =>
  (source) =>
    defer(() => {
      let held: { readonly kind: AnswerText; readonly index: number; readonly text: string } | undefined;
      const flush = (out: ModelEvent[]): void => {
        if (held && held.text !== '') pushDelta(out, held.kind, held.index, change(held.text, held.kind));
        held = undefined;
      };
      return source.pipe(
        map((batch) => {
          const out: ModelEvent[] = [];
          for (const event of batch) {
            const delta = deltaOf(event);
            if (!delta || !kinds.includes(delta.kind)) {
              flush(out);
              out.push(event);
              continue;
            }
            const { kind, index } = delta;
            const text = (held?.text ?? '') + delta.text;
            const cut = cutOf(text, lookbehind, (part) => change(part, kind));
            if (cut > 0) pushDelta(out, kind, index, change(text.slice(0, cut), kind));
            held = { kind, index, text: text.slice(cut) };
          }
          return out;
        }),
      );
    });

/**
 * How much of a text can go on: all but `lookbehind` characters, or less where that would cut a text that is replaced. There, changing both
 * sides differs from changing the whole.
 */
const cutOf = (text: string, lookbehind: number, change: (text: string) => string): number => {
  const most = text.length - lookbehind;
  if (most <= 0) return 0;
  const whole = change(text);
  for (let cut = most; cut > Math.max(0, most - lookbehind); cut -= 1) {
    if (isLowSurrogate(text, cut)) continue;
    if (change(text.slice(0, cut)) + change(text.slice(cut)) === whole) return cut;
  }
  return 0;
};

const isLowSurrogate = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
};

interface Delta {
  readonly kind: AnswerText;
  readonly index: number;
  readonly text: string;
}

const deltaOf = (event: ModelEvent): Delta | undefined => {
  if (event.type === 'text-delta') return { kind: 'text', index: event.index, text: event.text };
  if (event.type === 'thinking-delta') return { kind: 'thinking', index: event.index, text: event.text };
  return event.type === 'input-delta' ? { kind: 'input', index: event.index, text: event.json } : undefined;
};

const pushDelta = (out: ModelEvent[], kind: AnswerText, index: number, text: string): void => {
  if (text === '') return;
  if (kind === 'input') out.push({ type: 'input-delta', index, json: text });
  else out.push({ type: kind === 'text' ? 'text-delta' : 'thinking-delta', index, text });
};

/** How much `coalesce` collects before it goes on. */
interface CoalesceOptions {
  /** The longest time that a text is held back, in milliseconds. */
  readonly ms: number;
  /** Characters after which it isn't held back any longer. Default: 4,096. */
  readonly chars?: number;
}

/**
 * Merges the deltas of a block, for clients that are slow with many small ones. The first delta of a block and all other events go on at once,
 * so neither the first word nor the end is late. Unlike `debounceTime`, which drops batches, it loses nothing.
 */
export const coalesce =
  ({ ms, chars = 4_096 }: CoalesceOptions): MonoTypeOperatorFunction<Batch> =>
  (source) =>
    new Observable((subscriber) => {
      let held: Delta | undefined;
      let begun: string | undefined;
      let timer: NodeJS.Timeout | undefined;
      const take = (out: ModelEvent[]): void => {
        clearTimeout(timer);
        timer = undefined;
        if (held) pushDelta(out, held.kind, held.index, held.text);
        held = undefined;
      };
      const send = (out: ModelEvent[]): void => {
        if (out.length > 0) subscriber.next(out);
      };
      const release = (): void => {
        const out: ModelEvent[] = [];
        take(out);
        send(out);
      };
      subscriber.add(() => clearTimeout(timer));
      subscriber.add(
        source.subscribe({
          next(batch) {
            const out: ModelEvent[] = [];
            for (const event of batch) {
              const delta = deltaOf(event);
              const block = delta && `${delta.index} ${delta.kind}`;
              if (!delta || begun !== block) {
                take(out);
                out.push(event);
                begun = block;
                continue;
              }
              held = { ...delta, text: (held?.text ?? '') + delta.text };
              if (held.text.length >= chars) take(out);
            }
            if (held) timer ??= setTimeout(release, ms);
            send(out);
          },
          error(error: unknown) {
            release();
            subscriber.error(error);
          },
          complete() {
            release();
            subscriber.complete();
          },
        }),
      );
    });

/**
 * Passes a destination over: the request goes to the next one, and to no retry of this one, as long as the client has got nothing. In a request
 * half, or thrown before the first event of an answer.
 */
export const passOver = (message: string): never =>
  fail('upstream-overloaded', message, { retryOtherUpstream: true, countsAgainstHealth: false });
