import { useEffect } from 'react';
import { createStore, useStore } from '../../state/store.ts';
import { ApiError, wordError } from '../api-error.ts';
import { connection } from '../connection.ts';
import { keyState } from '../key.ts';
import { type ConfigFile, type Outcome, type ReadConfig, readConfig, writeConfig } from './config.ts';

/** The configuration as the page knows it. */
interface ConfigState {
  /** `undefined` until it was read. */
  readonly config: ConfigFile | undefined;
  /** Why it couldn't be read. A missing key and a gateway that doesn't answer aren't told here: the page's frame does. */
  readonly error: string | undefined;
}

interface State extends ConfigState {
  readonly etag: string | undefined;
}

const configStore = createStore<State>({ config: undefined, error: undefined, etag: undefined });

/** Reads the configuration again, for every page that shows it. */
export const reloadConfig = async (): Promise<void> => {
  try {
    update(await readConfig());
  } catch (error) {
    const isToldByFrame = error instanceof ApiError && (error.status === 401 || error.status === 0);
    configStore.set({ ...configStore.get(), error: isToldByFrame ? undefined : wordError(error) });
  }
};

/** Time limit for another process of the service to learn of a change, in milliseconds. */
const learnsMs = 2_000;
const askAgainMs = 150;

/**
 * Reads the configuration again once it was changed by a call. The next call may be answered by another process, or by one that is about
 * to end, which take up the change a moment later: what was there before the change isn't taken for what is there now.
 */
export const reloadChangedConfig = async (): Promise<void> => {
  const { etag } = configStore.get();
  for (const until = performance.now() + learnsMs; etag !== undefined && performance.now() < until; ) {
    const read = await readConfig().catch(() => undefined);
    if (!read) break;
    if (read.etag !== etag) {
      update(read);
      return;
    }
    await new Promise((resolve) => window.setTimeout(resolve, askAgainMs));
  }
  await reloadConfig();
};

/** The shared configuration. It is read when the first page asks, and when the key or the connection changed. */
export const useConfig = (): ConfigState => {
  const { revision } = useStore(connection);
  const { key } = useStore(keyState);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new key or connection is a reason to read it again
  useEffect(() => {
    void reloadConfig();
  }, [revision, key]);
  return useStore(configStore);
};

/**
 * Changes a part of the configuration and saves it whole. Fails with an `ApiError` in words: what is wrong with it, or (status
 * 412) that it was changed elsewhere meanwhile; then the newest is loaded, and saving again puts the change on top of that.
 */
export const saveConfig = async (change: (config: ConfigFile) => ConfigFile): Promise<Outcome> => {
  const { config, etag } = configStore.get();
  const before = config === undefined ? await readConfig() : { config, etag };
  try {
    const next = change(before.config);
    const outcome = await writeConfig(next, before.etag);
    await (JSON.stringify(next) === JSON.stringify(before.config) ? reloadConfig() : reloadChangedConfig());
    return outcome;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 412) throw error;
    await reloadConfig();
    throw new ApiError(412, changedElsewhere);
  }
};

const changedElsewhere =
  'Not saved: the configuration was changed elsewhere. It was reloaded and your changes are kept; save again to apply them.';

const update = ({ config, etag }: ReadConfig): void => {
  const before = configStore.get();
  const same = before.config !== undefined && JSON.stringify(before.config) === JSON.stringify(config);
  // The same object as before, so that nothing is drawn again for nothing.
  configStore.set({ config: same ? before.config : config, etag, error: undefined });
};
