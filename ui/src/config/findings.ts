import { useEffect, useMemo } from 'react';
import { isAbort, wordError } from '../api/api-error.ts';
import { type CheckedConfig, type ConfigFile, checkConfig, type Finding } from '../api/config.ts';
import { createStore, useStore } from '../state/store.ts';
import { parseText } from './parse-text.ts';
import { unreadableTexts } from './unreadable-texts.ts';

/** What the gateway says about a configuration. */
interface Checked extends CheckedConfig {
  /** The one that it speaks of. */
  readonly of: ConfigFile | undefined;
  /** Why it couldn't be asked. */
  readonly error: string | undefined;
}

const nothing: Checked = { of: undefined, error: undefined, faults: [], warnings: [], restart: [] };

/** The newest check of the draft or, while there is none, of what is saved. */
export const checked = createStore<Checked>(nothing);

/** How long somebody must have stopped typing, in milliseconds. */
const pauseMs = 250;

const turn = createStore(0);

/** Has the configuration checked once more: what holds it up may be gone, such as a restart that was due. */
export const checkAgain = (): void => turn.set(turn.get() + 1);

/** Has a configuration checked, now and whenever it has changed. Once per page. */
export const useChecks = (config: ConfigFile): void => {
  const again = useStore(turn);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another turn is a reason to check it again
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

/** All that keeps the draft from being saved. */
export const useFaults = (): readonly Finding[] => {
  const texts = useStore(unreadableTexts);
  const { faults } = useStore(checked);
  return useMemo(() => {
    const unread = [...texts].map(([path, text]) => {
      const parsed = parseText(text);
      return { path, message: 'problem' in parsed ? parsed.problem : 'can not be used as it is' };
    });
    return [...unread, ...faults];
  }, [texts, faults]);
};

/** A message that reads on after a path, as a sentence of its own. */
export const sentence = (message: string): string => {
  const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  return /[.!?]$/.test(text) ? text : `${text}.`;
};
