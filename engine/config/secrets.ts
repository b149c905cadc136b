import { secretsOfKey } from '../model/clouds.ts';
import { quoted } from '../model/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import { memberPath } from '../model/schema.ts';
import { exactMask, isSecretParameter } from '../observe/log/mask-text.ts';
import type { Finding } from './diagnostics.ts';
import { applyEnvOverrides, type Environment, interpolate, interpolateAll, quoteReferences } from './env.ts';
import { ConfigFile, type SecretMark } from './schema.ts';

// What is secret in a configuration follows from its schema, where a keyword marks the fields that hold secrets.

/**
 * The secrets in a configuration whose references are resolved, as they may occur in texts: keys with and without the scheme of a
 * header, and what is secret in URLs.
 */
export const secretsIn = (value: JsonObject): readonly string[] => {
  const found = new Set<string>();
  mapTexts(value, (at) => {
    for (const secret of secretParts(at).flatMap(secretsOfKey)) found.add(secret);
    return at.text;
  });
  found.delete('');
  return [...found];
};

/** Findings as they are shown: references as written, secrets masked. */
export const shownFindings = (
  findings: readonly Finding[],
  source: JsonObject,
  env: Environment,
): readonly Finding[] => {
  if (findings.length === 0) return findings;
  const mask = exactMask(secretsIn(applyEnvOverrides(interpolateAll(source, env), env).value));
  return quoteReferences(findings, source, env).map(({ path, message }) => ({ path, message: mask.text(message) }));
};

/**
 * Replaces each secret that a configuration spells out with a placeholder. It names the secret's place, with providers and
 * models by name: `•••• Providers[work].apiKey`. References to the environment stay as written.
 */
export const hideSecrets = (source: JsonObject): JsonObject => hidden(source).shown;

/**
 * Puts the secrets of `stored` in the place of their placeholders. A placeholder may move to the same field of another item,
 * and among what calls to providers carry. Elsewhere it stays, since messages or dry runs could show the secret there. It also
 * stays where the secret would go to another recipient than the stored one: a client that can't read a secret
 * must not be able to send it elsewhere.
 */
export const putSecretsBack = (source: JsonObject, stored: JsonObject): JsonObject => {
  const { secrets } = hidden(stored);
  const textOf = (text: string): string => secrets.get(text)?.text ?? text;
  const putBack = ({ text, path, member, mark, recipients }: TextAt): string => {
    const secret = secrets.get(text);
    if (!secret || !recipients.every((recipient) => secret.recipients.includes(recipient))) return text;
    const [from, to] = [fieldOf(secret.path), fieldOf(path)];
    const isCarried = callCredential.test(from) && callCredential.test(to) && isSecretField(mark, member);
    return from === to || isCarried ? secret.text : text;
  };
  return mapTexts(source, putBack, textOf);
};

/** A fault for each placeholder in a configuration: no secret is stored for it. */
export const placeholderFaults = (source: JsonObject): readonly Finding[] => {
  const faults: Finding[] = [];
  mapTexts(source, ({ text, path }) => {
    if (isPlaceholder(text)) {
      const shown = quoted(text);
      faults.push({
        path,
        message: `is the placeholder ${shown}, and no secret is stored for it at this address; enter the secret`,
      });
    }
    return text;
  });
  return faults;
};

/** Begins each placeholder. */
const dots = '•••• ';

/** Whether a text stands for a secret that isn't shown. */
export const isPlaceholder = (text: string): boolean => text.startsWith(dots);

interface Hidden {
  readonly shown: JsonObject;
  /** By placeholder. */
  readonly secrets: ReadonlyMap<string, Secret>;
}

type Secret = Pick<TextAt, 'text' | 'path' | 'recipients'>;

const hidden = (source: JsonObject): Hidden => {
  const secrets = new Map<string, Secret>();
  const copies = new Map<string, number>();
  const shown = mapTexts(source, (at) => {
    const { text, path, place, recipients } = at;
    if (!isSecret(at)) return text;
    // Two entries may have the same name.
    let copy = copies.get(place) ?? 0;
    let placeholder: string;
    do {
      copy += 1;
      placeholder = `${dots}${place}${copy === 1 ? '' : ` (${copy})`}`;
    } while (secrets.has(placeholder));
    copies.set(place, copy);
    secrets.set(placeholder, { text, path, recipients });
    return placeholder;
  });
  return { shown, secrets };
};

/** A text of a configuration. */
interface TextAt {
  readonly text: string;
  /** `Providers[0].apiKey`. */
  readonly path: string;
  /** As `path`, with items by name: `Providers[work].apiKey`. */
  readonly place: string;
  /** The name of the field, also for the items of its list. */
  readonly member: string;
  /** What its field is marked as; `undefined`: it holds no secret. */
  readonly mark: SecretMark | undefined;
  /** Who gets it: the origins that calls with it go to, or the transformer whose option it is. Empty: it stays in the service. */
  readonly recipients: readonly string[];
}

/** Maps all texts of a configuration. `textOf`: what an address that is a placeholder stands for. */
const mapTexts = (
  source: JsonObject,
  map: (text: TextAt) => string,
  textOf: (text: string) => string = (text) => text,
): JsonObject => {
  const mapObject = (value: JsonObject, at: Omit<TextAt, 'text' | 'mark'>, forms: readonly Form[]): JsonObject => {
    const { path, place } = at;
    const recipients = recipientsIn(value, fieldOf(path), textOf) ?? at.recipients;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        if (inner === undefined) return [name, inner];
        const next = { path: memberPath(path, name), place: memberPath(place, name), member: name, recipients };
        return [name, mapValue(inner, next, formsIn(forms, name))];
      }),
    );
  };
  const mapValue = (value: Json, at: Omit<TextAt, 'text' | 'mark'>, forms: readonly Form[]): Json => {
    if (typeof value === 'string') return map({ ...at, text: value, mark: markOf(forms) });
    if (isJsonObject(value)) return mapObject(value, at, forms);
    if (!Array.isArray(value)) return value;
    return value.map((item: Json, index) =>
      mapValue(
        item,
        { ...at, path: memberPath(at.path, index), place: `${at.place}[${nameOf(item) ?? index}]` },
        formsIn(forms, index),
      ),
    );
  };
  return mapObject(source, { path: '', place: '', member: '', recipients: [] }, configForms);
};

/** One of the schemas that a value may be meant to match, and what its references name. */
interface Form {
  readonly schema: JsonObject;
  readonly named: JsonObject;
}

/** A schema's alternatives. */
const formsOf = (schema: unknown, outer: JsonObject): readonly Form[] => {
  if (!isJsonObject(schema)) return [];
  const { $defs, $ref, anyOf } = schema;
  const named = isJsonObject($defs) ? $defs : outer;
  if (typeof $ref === 'string') return formsOf(named[$ref], named);
  return Array.isArray(anyOf) ? anyOf.flatMap((one: unknown) => formsOf(one, named)) : [{ schema, named }];
};

const configForms = formsOf(ConfigFile, {});

/**
 * The forms of a member or item. What no schema describes is of the kind of what holds it, or may be secret by its name: it may be a
 * value of the wrong type, or an unknown field.
 */
const formsIn = (forms: readonly Form[], step: string | number): readonly Form[] => {
  const described = forms.flatMap(({ schema, named }) =>
    schema.secret === 'named' ? [] : formsOf(schemaAt(schema, step), named),
  );
  return described.length > 0 ? described : [{ schema: { secret: markOf(forms) ?? 'named' }, named: {} }];
};

const schemaAt = ({ properties, patternProperties, items }: JsonObject, step: string | number): Json | undefined => {
  if (typeof step === 'number') return items;
  if (isJsonObject(properties) && Object.hasOwn(properties, step)) return properties[step];
  return isJsonObject(patternProperties) ? Object.values(patternProperties)[0] : undefined;
};

const marks = ['text', 'named', 'url'] as const satisfies readonly SecretMark[];

const markOf = (forms: readonly Form[]): SecretMark | undefined =>
  marks.find((mark) => forms.some(({ schema }) => schema.secret === mark));

/** The recipients of the secrets inside an object of the configuration; `undefined`: those of the enclosing object. */
const recipientsIn = (
  value: JsonObject,
  field: string,
  textOf: (text: string) => string,
): readonly string[] | undefined => {
  switch (field) {
    case 'Providers': {
      const { baseUrl, api_base_url, otherBaseUrls } = value;
      return textsIn([baseUrl ?? api_base_url, otherBaseUrls]).map((text) => originOf(textOf(text)));
    }
    case 'TELEMETRY':
      return typeof value.endpoint === 'string' ? [originOf(textOf(value.endpoint))] : ['the usual collector'];
    case 'transformers':
      return [JSON.stringify(textsIn([value.name, value.path]))];
    default:
      return undefined;
  }
};

const textsIn = (values: readonly (Json | undefined)[]): readonly string[] =>
  values.flat().filter((value) => typeof value === 'string');

/** The origin of an address. The value of a variable isn't looked at: with one in its host, the host as written counts. */
const originOf = (url: string): string => {
  const text = url.trim();
  if (!text.includes('$') && URL.canParse(text)) return new URL(text).origin;
  return /^[a-z]+:\/\/[^/?#\\]*/i.exec(text)?.[0] ?? text;
};

/** A path without the numbers of items. */
const fieldOf = (path: string): string => path.replace(/\[\d+\]/g, '');

const callCredential = /^Providers\.(?:models\.)?(?:apiKey|api_key|(?:headers|query)\..+)$/;

const nameOf = (item: Json): string | undefined =>
  isJsonObject(item) && typeof item.name === 'string' ? item.name : undefined;

const isSecret = ({ text, member, mark }: TextAt): boolean =>
  !isPlaceholder(text) &&
  (isSecretField(mark, member) ? isSpelledOut(text) : secretsInUrl(interpolate(text, {}).text).length > 0);

const isSecretField = (mark: SecretMark | undefined, member: string): boolean =>
  mark === 'text' || (mark === 'named' && isSecretParameter(member));

/** Whether a text is more than references to the environment, after the scheme of a header. The digest of a key is no secret. */
const isSpelledOut = (text: string): boolean =>
  interpolate(text, {})
    .text.replace(/^\s*(?:bearer|basic|token)(?!\S)/i, '')
    .trim() !== '' && !digest.test(text.trim());

const digest = /^sha256:[\da-f]{64}$/i;

/** What is secret of a text. */
const secretParts = ({ text, member, mark }: TextAt): readonly string[] => {
  const whole = text.trim();
  if (isPlaceholder(text) || digest.test(whole)) return [];
  if (!isSecretField(mark, member)) return secretsInUrl(whole);
  const bare = whole.replace(/^\w+ /, '').trim();
  return mark === 'text' ? [whole, bare] : [bare];
};

/**
 * The secrets in a URL: its password, or a user without one, and the values of parameters whose names say that they are secret. The URL
 * need not be valid: a reference in it may be unset.
 */
const secretsInUrl = (text: string): readonly string[] => {
  const schemeEnd = text.indexOf('://');
  if (schemeEnd < 0) return [];
  const [address = ''] = text.slice(schemeEnd + 3).split('#', 1);
  const [authority = ''] = address.split(urlPart, 1);
  const userInfo = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
  const password = userInfo.slice(userInfo.indexOf(':') + 1);
  const queryAt = address.indexOf('?');
  const parameters = new URLSearchParams(queryAt < 0 ? '' : address.slice(queryAt));
  const named = [...parameters].flatMap(([name, value]) => (isSecretParameter(name) ? [value] : []));
  return [decodeUrl(password), ...named].filter((secret) => secret !== '');
};

/** Ends the host of a URL. */
const urlPart = /[/?\\]/;

const decodeUrl = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
