import { createStore } from './store.ts';

/** A question with two answers. */
interface Question {
  readonly title: string;
  readonly text: string;
  /** The label of the confirming button: a verb. */
  readonly yes: string;
  /** Default: `Cancel`. */
  readonly no?: string;
  /** The action is destructive. */
  readonly danger?: boolean;
}

/** The open question, with a function that answers it. */
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
