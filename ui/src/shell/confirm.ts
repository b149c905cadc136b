import { createStore } from '../state/store.ts';

/** A question with two answers. */
interface Question {
  readonly title: string;
  readonly text: string;
  /** The button that says yes: a verb. */
  readonly yes: string;
  /** Default: `Cancel`. */
  readonly no?: string;
  /** Something is lost by it. */
  readonly danger?: boolean;
}

/** The question that is open, and what takes the answer. */
export const openQuestion = createStore<(Question & { readonly answer: (yes: boolean) => void }) | undefined>(
  undefined,
);

/** Asks in a dialog. Resolves to false when it is closed. */
export const confirm = (question: Question): Promise<boolean> =>
  new Promise((resolve) => {
    openQuestion.get()?.answer(false);
    openQuestion.set({
      ...question,
      answer(yes) {
        openQuestion.set(undefined);
        resolve(yes);
      },
    });
  });
