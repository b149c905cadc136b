import { memberPath } from '../../model/schema.ts';
import type { FleetConfig } from '../config.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { Environment, UnsetReference } from '../env.ts';
import type { FleetFile } from '../schema.ts';

/**
 * Reads `FLEET`, which matches its schema. Any fault in it makes the configuration unusable: machines that don't share would each
 * grant whole limits.
 */
export const readFleet = (
  { store, primary, ca, name, key, address, replicas, withoutStore }: FleetFile,
  unset: readonly UnsetReference[],
  findings: Diagnostics,
): FleetConfig => {
  const missing = new Set(unset.map(({ path }) => path));
  const urls = listOf(store, 'FLEET.store').flatMap(({ text, at }) => {
    if (missing.has(at)) return [];
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url?.hostname && (url.protocol === 'redis:' || url.protocol === 'rediss:')) return [url];
    findings.fault(at, 'must be a URL such as rediss://user:password@valkey.example:6379');
    return [];
  });
  if (new Set(urls.map(({ protocol }) => protocol)).size > 1) {
    findings.fault('FLEET.store', 'must have either redis:// or rediss:// in all addresses');
  }
  const keys = listOf(key, 'FLEET.key').flatMap(({ text, at }) => {
    if (missing.has(at)) return [];
    const bytes = secretKeyOf(text);
    if (bytes) return [bytes];
    findings.fault(at, keyForm);
    return [];
  });
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) {
    findings.fault('FLEET.name', 'must be 1 to 64 letters, digits, dots, hyphens or underscores');
  }
  const own = address?.trim() || undefined;
  const base = own !== undefined && URL.canParse(own) ? new URL(own) : undefined;
  if (own !== undefined && !missing.has('FLEET.address') && !(base && /^https?:$/.test(base.protocol))) {
    findings.fault('FLEET.address', 'must be a URL such as http://10.0.0.7:3456');
  }
  return {
    urls,
    primary: primary?.trim() || undefined,
    ca: ca?.trim() || undefined,
    name,
    keys,
    address: base,
    replicas,
    withoutStore,
  };
};

const listOf = (
  value: string | readonly string[],
  at: string,
): readonly { readonly text: string; readonly at: string }[] =>
  typeof value === 'string'
    ? [{ text: value.trim(), at }]
    : value.map((text, index) => ({ text: text.trim(), at: memberPath(at, index) }));

/** The variable with the keys that seal what is kept on disk. */
const stateKeyVariable = 'JUNCTOR_STATE_KEY';

/** Reads the keys of `JUNCTOR_STATE_KEY`, which are separated by commas. Throws a message for users. */
export const readStateKeys = (env: Environment): readonly Buffer[] => {
  const texts = (env[stateKeyVariable] ?? '').split(',').map((text) => text.trim());
  return texts.filter(Boolean).map((text) => {
    const key = secretKeyOf(text);
    if (key) return key;
    throw new Error(`${stateKeyVariable} ${keyForm}.`);
  });
};

const keyBytes = 32;
const keyForm = 'must be 32 bytes as base64 or hexadecimal digits, as `openssl rand -hex 32` prints';

const secretKeyOf = (text: string): Buffer | undefined => {
  const key = Buffer.from(text, /^[\da-f]{64}$/i.test(text) ? 'hex' : 'base64');
  return key.length === keyBytes ? key : undefined;
};
