import { quoted } from '../model/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import { memberPath } from '../model/schema.ts';
import { isSecretParameter } from '../observe/log/mask-text.ts';
import type { Finding } from './diagnostics.ts';
import { interpolate } from './env.ts';

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
  const putBack = ({ text, path, member, recipients }: TextAt): string => {
    const secret = secrets.get(text);
    if (!secret || !recipients.every((recipient) => secret.recipients.includes(recipient))) return text;
    const [from, to] = [fieldOf(secret.path), fieldOf(path)];
    const isCarried = callCredential.test(from) && callCredential.test(to) && isSecretField(member);
    return from === to || isCarried ? secret.text : text;
  };
  return mapSettings(source, putBack, textOf);
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
const mark = '•••• ';

/** Whether a text stands for a secret that isn't shown. */
export const isPlaceholder = (text: string): boolean => text.startsWith(mark);

interface Hidden {
  readonly shown: JsonObject;
  /** By placeholder. */
  readonly secrets: ReadonlyMap<string, Secret>;
}

type Secret = Pick<TextAt, 'text' | 'path' | 'recipients'>;

const hidden = (source: JsonObject): Hidden => {
  const secrets = new Map<string, Secret>();
  const copies = new Map<string, number>();
  const shown = mapSettings(source, ({ text, path, place, member, recipients }) => {
    if (!isSecret(text, member)) return text;
    // Two entries may have the same name.
    let copy = copies.get(place) ?? 0;
    let placeholder: string;
    do {
      copy += 1;
      placeholder = `${mark}${place}${copy === 1 ? '' : ` (${copy})`}`;
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
  /** Who gets it: the origins that calls with it go to, or the transformer whose option it is. Empty: it stays in the service. */
  readonly recipients: readonly string[];
}

/**
 * Maps the texts of a configuration but those about routes, which hold no secrets; a rule's `key` is the name of a client.
 * `textOf`: what an address that is a placeholder stands for.
 */
const mapSettings = (
  source: JsonObject,
  map: (text: TextAt) => string,
  textOf?: (text: string) => string,
): JsonObject => {
  const { Router, Pools, fallback, ...settings } = source;
  return { ...source, ...mapTexts(settings, map, textOf) };
};

/** Maps all texts of a configuration. */
const mapTexts = (
  source: JsonObject,
  map: (text: TextAt) => string,
  textOf: (text: string) => string = (text) => text,
): JsonObject => {
  const mapObject = (value: JsonObject, path: string, place: string, outer: readonly string[]): JsonObject => {
    const recipients = recipientsIn(value, fieldOf(path), textOf) ?? outer;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        inner === undefined
          ? inner
          : mapValue(inner, memberPath(path, name), place === '' ? name : `${place}.${name}`, name, recipients),
      ]),
    );
  };
  const mapValue = (value: Json, path: string, place: string, member: string, recipients: readonly string[]): Json => {
    if (typeof value === 'string') return map({ text: value, path, place, member, recipients });
    if (isJsonObject(value)) return mapObject(value, path, place, recipients);
    if (!Array.isArray(value)) return value;
    return value.map((item: Json, index) =>
      mapValue(item, memberPath(path, index), `${place}[${nameOf(item) ?? index}]`, member, recipients),
    );
  };
  return mapObject(source, '', '', []);
};

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

const isSecret = (text: string, member: string): boolean =>
  !text.startsWith(mark) && (isSecretField(member) ? isSpelledOut(text) : hasSecretInUrl(text));

/** `credentials` says whose they are. */
const isSecretField = (member: string): boolean => member !== 'credentials' && isSecretParameter(member);

/** Whether a text is more than references to the environment, after the scheme of a header. The digest of a key is no secret. */
const isSpelledOut = (text: string): boolean =>
  interpolate(text, {})
    .text.replace(/^\s*(?:bearer|basic|token)(?!\S)/i, '')
    .trim() !== '' && !/^sha256:[\da-f]{64}$/i.test(text.trim());

const hasSecretInUrl = (text: string): boolean => {
  const url = text.includes('://') ? interpolate(text, {}).text : '';
  if (!URL.canParse(url)) return false;
  const { password, searchParams } = new URL(url);
  return password !== '' || [...searchParams].some(([name, value]) => isSecretParameter(name) && value !== '');
};
