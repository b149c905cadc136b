import { findTemplate } from './find-template.ts';
import type { JsonObject } from './json.ts';
import type { RecordTemplate } from './record-template.ts';

/**
 * Parses the frequent records of one stream for less than `JSON.parse` costs. A vendor writes them all by one template: what
 * differs from one to the next is a text, a count, padding. Two of them that were parsed in full show where; from then on a
 * record is compared with what they have in common, and only what may differ is read. Whatever isn't written alike, to the last
 * character, is not recognised here, and has to be parsed as ever.
 */
export class AlikeRecords<T extends JsonObject> {
  /** The one that served last comes first. */
  readonly #templates: RecordTemplate<T>[] = [];
  #sample: string | undefined;
  /** How many records were recognised, and how often the template had to be looked for. */
  #hits = 0;
  #searches = 0;

  /**
   * The record's value, exactly as `JSON.parse` gives it, if it is written like those learned from; `undefined` otherwise. It is
   * fit for whatever schema the learned ones are, as long as that asks of their members nothing but types. The value belongs to
   * this object: the next call overwrites it.
   */
  read(data: string): T | undefined {
    const templates = this.#templates;
    for (let index = 0; index < templates.length; index += 1) {
      const template = templates[index];
      const value = template?.fill(data);
      if (template === undefined || value === undefined) continue;
      this.#hits += 1;
      if (index > 0) {
        templates.splice(index, 1);
        templates.unshift(template);
      }
      return value;
    }
    return undefined;
  }

  /** Learns from a record that wasn't recognised, and that others like it may follow. `value` is what it says; it is kept. */
  learn(data: string, value: T): void {
    if (data.length > mostLength || this.#searches > fewestSearches + this.#hits / leastHits) return;
    const sample = this.#sample;
    this.#sample = data;
    if (sample === undefined || sample === data) return;
    this.#searches += 1;
    const template = findTemplate(sample, data, value);
    if (template === undefined) return;
    if (this.#templates.unshift(template) > mostTemplates) this.#templates.pop();
  }
}

/** Long records are too rare to be learned from, and could be nested too deep to be walked. */
const mostLength = 4096;
/** Text, reasoning and arguments may take turns. */
const mostTemplates = 3;
/** A search costs as much as parsing a few records does; a stream whose records have nothing in common isn't searched on and on. */
const fewestSearches = 8;
const leastHits = 8;
