import type { Delivery } from '../exchange.ts';
import { plainPath } from '../field-pattern.ts';
import type { Headers } from '../model/protocol.ts';
import type { FailedAttempt } from '../retry/failed-attempt.ts';

const none: Headers = {};
const mostCharacters = 1_024;
const mostName = 128;

/** Which tries came to nothing before this answer, in at most 1 KiB: `p,m=503; q,n=429; +2`. No header when there were none. */
export const attemptsHeaders = ({ failed }: Pick<Delivery, 'failed'>): Headers =>
  failed.length === 0 ? none : { 'x-switchyard-attempts': attemptsHeader(failed) };

const attemptsHeader = (failed: readonly FailedAttempt[]): string => {
  let room = mostCharacters - '; +9999'.length;
  const texts: string[] = [];
  for (const { provider, model, outcome } of failed) {
    const text = `${plainName(provider)},${plainName(model)}=${outcome}`;
    room -= text.length + 2;
    if (room < 0) break;
    texts.push(text);
  }
  const left = failed.length - texts.length;
  return [...texts, ...(left > 0 ? [`+${left}`] : [])].join('; ');
};

const plainName = (name: string): string => plainPath(name).slice(0, mostName);
