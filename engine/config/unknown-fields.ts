import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { memberPath } from '../model/schema.ts';
import { closeNames } from '../routing/close-names.ts';
import type { Findings } from './findings.ts';
import {
  BreakerFile,
  ConfigFile,
  FallbackFile,
  KeysFile,
  LimitsFile,
  ProviderFile,
  RetryFile,
  RouterFile,
  TimeoutsFile,
  TransformerFile,
} from './schema.ts';

interface Known {
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Warns of fields that nothing reads: they are kept when the configuration is written, but a slip shouldn't go unseen. */
export const warnOfUnknownFields = (written: JsonObject, findings: Findings): void => {
  const check = (value: Json | undefined, known: Known, at: string): void => {
    if (!isJsonObject(value)) return;
    const names = Object.keys(known.properties);
    for (const name of Object.keys(value).filter((member) => !names.includes(member))) {
      const close = closeNames(name, names)[0];
      findings.warn(memberPath(at, name), `is unknown and has no effect${close ? `; did you mean ${close}?` : ''}`);
    }
  };
  const checkEach = (value: Json | undefined, known: Known, at: string): void => {
    if (!Array.isArray(value)) return;
    for (const [index, item] of value.entries()) check(item, known, memberPath(at, index));
  };
  check(written, ConfigFile, '');
  check(written.LIMITS, LimitsFile, 'LIMITS');
  check(written.TIMEOUTS, TimeoutsFile, 'TIMEOUTS');
  check(written.RETRY, RetryFile, 'RETRY');
  check(written.BREAKER, BreakerFile, 'BREAKER');
  check(written.KEYS, KeysFile, 'KEYS');
  check(written.fallback, FallbackFile, 'fallback');
  check(written.Router, RouterFile, 'Router');
  if (isJsonObject(written.Router)) {
    check(written.Router.routes, RouterFile.properties.routes, 'Router.routes');
    check(written.Router.fallback, FallbackFile, 'Router.fallback');
  }
  checkEach(written.Providers, ProviderFile, 'Providers');
  checkEach(written.transformers, TransformerFile, 'transformers');
};
