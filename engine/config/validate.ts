import { isShallow } from '../model/is-shallow.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { memberPath, type Reader, reader } from '../model/schema.ts';
import type { Config } from './config.ts';
import { type Finding, Findings } from './findings.ts';
import { readHead, settleHead } from './head.ts';
import { type Environment, interpolateAll } from './interpolate.ts';
import { overrideHead } from './override-head.ts';
import { maxDepth } from './parse.ts';
import { readProviders } from './providers.ts';
import { readRouter } from './router.ts';
import { ConfigFile, FallbackFile, HeadFile, ProviderFile, RouterFile, TransformerEntryFile } from './schema.ts';
import { readTransformers, type Written } from './transformers.ts';
import { warnOfUnknownFields } from './unknown-fields.ts';

/** What a configuration comes to: one that can be used, or all that is wrong with it. Warnings either way. */
export type Validation =
  | { readonly config: Config; readonly warnings: readonly Finding[] }
  | { readonly faults: readonly Finding[]; readonly warnings: readonly Finding[] };

const file = reader(ConfigFile);
const headFile = reader(HeadFile);
const providerFile = reader(ProviderFile);
const routerFile = reader(RouterFile);
const fallbackFile = reader(FallbackFile);
const transformerFile = reader(TransformerEntryFile);

/**
 * Checks a configuration as written and fills it in. Messages name places and variables, never a credential's value. Names and
 * options of transformers are for the caller to check, who has the tables: each entry's `at` is the path to report.
 */
export const validateConfig = (written: JsonObject, env: Environment): Validation => {
  const findings = new Findings();
  if (!isShallow(written, maxDepth)) return { faults: [tooDeep], warnings: [] };
  const { value, unset } = overrideHead(interpolateAll(written, env), env);
  const filled = settleHead(value, unset, findings);
  for (const { path, message } of file.faults(filled)) findings.fault(path, message);
  warnOfUnknownFields(filled, findings);

  const list = readProviders(filled.Providers, unset, findings);
  const { Router, fallback } = filled;
  const router = readRouter(
    routerFile.matches(Router) ? Router : {},
    fallbackFile.matches(fallback) ? fallback : {},
    list,
    unset,
    findings,
  );
  const entries = fitting(transformerFile, filled.transformers, 'transformers');
  const transformers = readTransformers(entries, fitting(providerFile, filled.Providers, 'Providers'), list, findings);
  const head = headFile.matches(filled) ? readHead(filled, unset, findings) : undefined;

  const { faults, warnings } = findings;
  if (faults.length > 0 || !head) return { faults, warnings };
  return { config: { ...head, providers: list.providers, router, transformers }, warnings };
};

/** What is deeper couldn't be read again once it is written. */
const tooDeep: Finding = { path: '', message: `is nested deeper than ${maxDepth} levels` };

/** The members of a list that fit their schema; the others have been reported with the whole. */
const fitting = <T>(file: Reader<T>, list: Json | undefined, at: string): readonly Written<T>[] =>
  (Array.isArray(list) ? list : []).flatMap((row: unknown, index) =>
    file.matches(row) ? [{ at: memberPath(at, index), row }] : [],
  );
