import { isJsonObject, type JsonObject } from '../../api/json.ts';

/** The names of a schema's members in words, without their unit: `firstByteMs` is `First byte (firstByteMs)`. */
export const fieldTitles = ({ properties }: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(isJsonObject(properties) ? properties : {}).map((name) => {
      const words = name.replace(/(?:Bytes|Ms|Minutes)$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
      const title = `${words.charAt(0).toUpperCase()}${words.slice(1)}`.replace('Json', 'JSON');
      return [name, words === name ? title : `${title} (${name})`];
    }),
  );
