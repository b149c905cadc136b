import type { FeatureFolder } from '../../feature.ts';
import { steadyClock } from '../../runtime/steady-clock.ts';

/** Counts and logs what breaks the rules of wire formats. */
export const grammarWatch: FeatureFolder = {
  configured: ({ grammar }) => grammar === 'watch',
  async open() {
    const { openGrammarWatch } = await import('./grammar-watch.ts');
    return openGrammarWatch(steadyClock.nowMs);
  },
};
