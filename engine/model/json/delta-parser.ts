import type { DeltaTemplate } from './delta-template.ts';
import { findTemplate } from './find-template.ts';
import type { JsonObject } from './json.ts';

/**
 * Parses the frequent records of one stream faster than `JSON.parse`. A vendor writes them all by one template; they differ in
 * a text, a count or padding. Two fully parsed records reveal the template; later records are compared with its fixed pieces,
 * and only the gaps are read. A record that differs in any other character is not recognized and must be parsed in full.
 */
export class DeltaParser<T extends JsonObject> {
  /** Most recently used first. */
  readonly #templates: DeltaTemplate<T>[] = [];
  #sample: string | undefined;
  /** Recognized records, and searches for a template. */
  #hits = 0;
  #searches = 0;

  /**
   * Parses a record that fits a learned template; `undefined` for any other. The value equals that of `JSON.parse` and matches
   * every schema that the learned records match, if the schema only checks types. The next call overwrites the value.
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

  /** Learns from a record that wasn't recognized. `value` is its parsed value, which is kept and reused. */
  learn(data: string, value: T): void {
    if (data.length > maxLength || this.#searches > minSearches + this.#hits / minHitsPerSearch) return;
    const sample = this.#sample;
    this.#sample = data;
    if (sample === undefined || sample === data) return;
    this.#searches += 1;
    const template = findTemplate(sample, data, value);
    if (template === undefined) return;
    if (this.#templates.unshift(template) > maxTemplates) this.#templates.pop();
  }
}

/** Longer records are too rare to learn from, and may be nested too deep to walk. In characters. */
const maxLength = 4096;
/** Text, reasoning and arguments may alternate. */
const maxTemplates = 3;
/** A search costs as much as parsing a few records, so searching stops when too few records are recognized. */
const minSearches = 8;
const minHitsPerSearch = 8;
