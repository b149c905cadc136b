import { useEffect, useMemo, useState } from 'react';
import { isAbort, wordError } from '../../../api/api-error.ts';
import { type ConfigFile, checkConfig, type Finding } from '../../../api/config/config.ts';
import { isJsonObject, type JsonObject } from '../../../api/json.ts';
import { mergePreset, withoutPlaceholders } from '../../../config/draft/merge-preset.ts';
import { parseText } from '../../../config/fields/parse-text.ts';
import { settingsOf } from '../../../config/settings-of.ts';

/** A manifest as typed, with its findings. */
interface TypedManifest {
  /** `undefined` while the text is malformed. */
  readonly manifest: ConfigFile | undefined;
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
}

const pauseMs = 300;
const nothing = { faults: [], warnings: [] };

/** Parses a manifest, and has the gateway check the merged configuration. */
export const useManifest = (text: string, config: ConfigFile | undefined, schema: JsonObject): TypedManifest => {
  const read = useMemo(() => readManifest(text), [text]);
  const [told, setTold] = useState<Omit<TypedManifest, 'manifest'>>(nothing);
  const { manifest } = read;
  useEffect(() => {
    if (!manifest || !config) {
      setTold(nothing);
      return;
    }
    const leaving = new AbortController();
    const timer = window.setTimeout(() => {
      // The merged value may have a wrong shape: the check reports it.
      checkConfig(mergePreset(config, withoutPlaceholders(manifest), schema) as ConfigFile, leaving.signal).then(
        ({ faults, warnings }) => setTold({ faults, warnings: warnings.filter(({ path }) => isOwn(path, manifest)) }),
        (error: unknown) => {
          if (!isAbort(error)) setTold({ faults: [], warnings: [{ path: '', message: wordError(error) }] });
        },
      );
    }, pauseMs);
    return () => {
      window.clearTimeout(timer);
      leaving.abort();
    };
  }, [manifest, config, schema]);
  const idle = Object.keys(settingsOf(schema))
    .filter((name) => manifest?.[name] !== undefined)
    .map((path) => ({ path, message: 'has no effect in a preset' }));
  return { manifest, faults: [...read.faults, ...told.faults], warnings: [...idle, ...told.warnings] };
};

const isOwn = (path: string, manifest: ConfigFile): boolean => manifest[path.match(/^\w+/)?.[0] ?? ''] !== undefined;

const readManifest = (
  text: string,
): { readonly manifest: ConfigFile | undefined; readonly faults: readonly Finding[] } => {
  const parsed = parseText(text);
  if ('problem' in parsed) return refused(`The manifest ${parsed.problem}`);
  if (!isJsonObject(parsed.value)) return refused('The manifest must be a JSON object');
  return { manifest: parsed.value as ConfigFile, faults: [] };
};

const refused = (message: string) => ({ manifest: undefined, faults: [{ path: '', message }] });
