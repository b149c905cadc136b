import type { StageContext } from '../../engine/config/custom/around.ts';
import { StageMemories } from '../../engine/config/custom/stage-memory.ts';
import { Losses } from '../../engine/model/loss.ts';
import { plainRequest } from './context.ts';

/** The context of a stage that is tested by itself: it can't ask. */
export const stageContext = (over: Partial<StageContext> = {}): StageContext => ({
  id: 'test',
  client: { wire: 'chat', path: '/v1/chat/completions', header: () => undefined },
  original: plainRequest,
  target: {
    provider: 'p',
    model: 'm',
    format: 'openai',
    isVendor: false,
    isClientsVendor: false,
    webSearch: false,
    attempt: 1,
  },
  signal: new AbortController().signal,
  limitMs: 30_000,
  asks: [],
  losses: new Losses('test'),
  log: () => undefined,
  spent: () => ({ usage: {} }),
  memory: new StageMemories().of('test'),
  ask() {
    throw new Error('nothing can be asked here');
  },
  decide() {
    throw new Error('nothing can be decided here');
  },
  async fetch() {
    throw new Error('nothing can be fetched here');
  },
  ...over,
});
