import { useState } from 'react';
import { wordError } from './api-error.ts';

/** Something that takes a while and may fail, in words. */
export const useAttempt = () => {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const run = (work: () => Promise<void>): void => {
    setBusy(true);
    setError(undefined);
    work()
      .catch((caught: unknown) => setError(wordError(caught)))
      .finally(() => setBusy(false));
  };
  return { busy, error, run };
};
