import { useEffect, useMemo } from 'react';
import { isAbort, wordError } from '../api/api-error.ts';
import { type CheckedConfig, type ConfigFile, checkConfig, type Finding } from '../api/config/config.ts';
import { createStore, useStore } from '../state/store.ts';
import { parseText } from './fields/parse-text.ts';
import { unreadableTexts } from './fields/unreadable-texts.ts';

/** The gateway's check of a configuration. */
interface Checked extends CheckedConfig {
  /** The checked configuration. */
  readonly of: ConfigFile | undefined;
  /** Why the check failed. */
  readonly error: string | undefined;
}

const nothing: Checked = { of: undefined, error: undefined, faults: [], warnings: [], restart: [] };

/** The latest check of the draft or, without one, of the saved configuration. */
export const checked = createStore<Checked>(nothing);

/** Debounce time after typing, in milliseconds. */
const pauseMs = 250;

const turn = createStore(0);

/** Checks the configuration again, for example after a due restart. */
export const checkAgain = (): void => turn.set(turn.get() + 1);

/** Checks a configuration now and after each change. Once per page. */
export const useChecks = (config: ConfigFile): void => {
  const again = useStore(turn);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another turn checks again
  useEffect(() => {
    const leaving = new AbortController();
    const timer = window.setTimeout(() => {
      checkConfig(config, leaving.signal).then(
        (outcome) => checked.set({ ...outcome, of: config, error: undefined }),
        (error: unknown) => {
          if (!isAbort(error)) checked.set({ ...nothing, of: config, error: wordError(error) });
        },
      );
    }, pauseMs);
    return () => {
      window.clearTimeout(timer);
      leaving.abort();
    };
  }, [config, again]);
};

/** Everything that prevents saving the draft. */
export const useFaults = (): readonly Finding[] => {
  const texts = useStore(unreadableTexts);
  const { faults } = useStore(checked);
  return useMemo(() => {
    const unread = [...texts].map(([path, text]) => {
      const parsed = parseText(text);
      return { path, message: 'problem' in parsed ? parsed.problem : 'cannot be used as is' };
    });
    return [...unread, ...faults];
  }, [texts, faults]);
};
