import { parseObject } from '../api/json.ts';
import { kept } from '../state/kept.ts';
import { createStore } from '../state/store.ts';

const place = kept('session', 'draft.texts');

const restore = (): ReadonlyMap<string, string> => {
  const texts = Object.entries(parseObject(place.read() ?? '') ?? {});
  return new Map(texts.flatMap(([path, text]) => (typeof text === 'string' ? [[path, text]] : [])));
};

/** Malformed JSON by field path. It isn't part of the draft, but survives a reload too. */
export const unreadableTexts = createStore(restore());

const hold = (texts: ReadonlyMap<string, string>): void => {
  place.write(texts.size > 0 ? JSON.stringify(Object.fromEntries(texts)) : undefined);
  unreadableTexts.set(texts);
};

/** Keeps a text; `undefined` removes it. */
export const keepText = (path: string, text: string | undefined): void => {
  const texts = unreadableTexts.get();
  if (texts.get(path) === text) return;
  const others = [...texts].filter(([at]) => at !== path);
  hold(new Map(text === undefined ? others : [...others, [path, text]]));
};

/** Removes all texts. */
export const forgetTexts = (): void => hold(new Map());

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
  hold(new Map(moved));
};
