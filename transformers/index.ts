import type { Format, Transformer } from '../engine/model/transformer.ts';
import { cachepoints } from './cachepoints.ts';
import { enhancetool } from './enhancetool.ts';
import { anthropic } from './formats/anthropic.ts';
import { decisions } from './formats/decisions.ts';
import { deepseek } from './formats/deepseek.ts';
import { gemini } from './formats/gemini.ts';
import { groq } from './formats/groq.ts';
import { openai } from './formats/openai.ts';
import { openrouter } from './formats/openrouter.ts';
import { maxtoken } from './maxtoken.ts';
import { reasoning } from './reasoning.ts';
import { tooluse } from './tooluse.ts';

const byName = <T extends { readonly name: string }>(rows: readonly T[]): ReadonlyMap<string, T> =>
  new Map(rows.map((row) => [row.name, row]));

/** The vendor formats, by name. */
export const formats: ReadonlyMap<string, Format> = byName([
  openai,
  anthropic,
  deepseek,
  gemini,
  openrouter,
  groq,
  decisions,
]);

/** The transformers available to a configuration, by name. */
export const stages: ReadonlyMap<string, Transformer> = byName([
  maxtoken,
  tooluse,
  reasoning,
  enhancetool,
  cachepoints,
]);

/** Stages that are modules on the public API, as users' own are: the `index.ts` of a folder. Each is loaded once an entry names it. */
export const shipped: readonly string[] = ['judge', 'see', 'search'];

/** A provider's format if neither the configuration nor the host determines it. */
export const defaultFormat = openai.name;
