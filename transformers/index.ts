import type { Format, Transformer } from '../engine/model/transformer.ts';
import { enhancetool } from './enhancetool.ts';
import { anthropic } from './formats/anthropic.ts';
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

/** The vendors' formats, by name. */
export const formats: ReadonlyMap<string, Format> = byName([openai, anthropic, deepseek, gemini, openrouter, groq]);

/** The stages that a configuration can put on a request's way, by name. */
export const stages: ReadonlyMap<string, Transformer> = byName([maxtoken, tooluse, reasoning, enhancetool]);

/** What a provider is taken to speak when neither the configuration nor its host says otherwise. */
export const plainFormat = openai.name;
