import { type Finding, wordFinding } from '../config/findings.ts';
import { FaultError } from '../model/fault.ts';

const mostNamed = 5;

/**
 * The error of a preset that is there but can't be used, with the first things that are wrong. Its status is 500: the client
 * can do nothing about it, but whoever wrote the preset can.
 */
export const unusable = (name: string, faults: readonly Finding[]): FaultError => {
  const named = faults.slice(0, mostNamed).map(wordFinding);
  const more = faults.length > mostNamed ? [`${faults.length - mostNamed} more`] : [];
  const message = `The preset "${name}" can't be used: ${[...named, ...more].join('; ')}.`;
  return new FaultError({ kind: 'stage-failed', message, code: 'preset_invalid' });
};
