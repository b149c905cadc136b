import { createStore } from '../../state/store.ts';

/** Malformed JSON by field path. It isn't part of the draft, and is lost by a reload: it could hold a secret anywhere. */
export const unreadableTexts = createStore<ReadonlyMap<string, string>>(new Map());

/** Keeps a text; `undefined` removes it. */
export const keepText = (path: string, text: string | undefined): void => {
  const texts = unreadableTexts.get();
  if (texts.get(path) === text) return;
  const others = [...texts].filter(([at]) => at !== path);
  unreadableTexts.set(new Map(text === undefined ? others : [...others, [path, text]]));
};

/** Removes all texts. */
export const forgetTexts = (): void => unreadableTexts.set(new Map());

/** Moves the texts of a list's rows to their new places; `undefined` removes them. */
export const moveTexts = (list: string, placeOf: (at: number) => number | undefined): void => {
  const moved = [...unreadableTexts.get()].flatMap(([path, text]): [string, string][] => {
    const [, at, rest = ''] = path.startsWith(`${list}[`)
      ? (/^\[(\d+)\](.*)$/.exec(path.slice(list.length)) ?? [])
      : [];
    if (at === undefined) return [[path, text]];
    const to = placeOf(Number(at));
    return to === undefined ? [] : [[`${list}[${to}]${rest}`, text]];
  });
  unreadableTexts.set(new Map(moved));
};
