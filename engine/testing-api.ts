/** The public API for tests of custom transformers, exported as `junctor/testing`. It works with any test runner. */
import type * as declared from './trial/declared.ts';
import { cutEverywhere } from './trial/every-cut.ts';
import { leaveEverywhere } from './trial/every-leave.ts';
import { runTrial } from './trial/run-trial.ts';
import { openTrial } from './trial/trial.ts';

export type {
  AnswerFunction,
  FetchFunction,
  GivenAnswer,
  Halves,
  SentCall,
  StageTest,
  Tried,
  TriedCall,
} from './trial/declared.ts';

const testStage: typeof declared.testStage = async (test) => {
  const { tried, failure } = await runTrial(await openTrial(test));
  if (failure) throw failure;
  return tried;
};

const everyCut: typeof declared.everyCut = async (test) => cutEverywhere(await openTrial(test));

const everyLeave: typeof declared.everyLeave = async (test) => leaveEverywhere(await openTrial(test));

export { everyCut, everyLeave, testStage };
