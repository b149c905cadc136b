import { useEffect } from 'react';
import { href, navigate, route } from '../../router/route.ts';
import { createStore, useStore } from '../../state/store.ts';
import { pageOf } from '../settings-of.ts';
import { isWithin } from './field-path.ts';

/** The field to focus. */
const wanted = createStore<string | undefined>(undefined);

/** Opens the page of a field and focuses it. */
export const goToField = (path: string): void => {
  wanted.set(undefined);
  wanted.set(path);
  const page = pageOf(path);
  if (route.get().path !== page) navigate(href(page));
};

/** Calls `show` with the field to be focused, if it is at or below one of these paths, or on the page at this address. */
export const useWanted = (paths: readonly string[] | string, show: (field: string) => void): void => {
  const field = useStore(wanted);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per request
  useEffect(() => {
    if (field === undefined) return;
    if (typeof paths === 'string' ? pageOf(field) === paths : paths.some((path) => isWithin(field, path))) show(field);
  }, [field]);
};

/** The most frames to wait for the field. */
const mostFrames = 30;

/** Focuses the wanted field once it is rendered. Once per page. */
export const useFocusWanted = (): void => {
  const field = useStore(wanted);
  useEffect(() => {
    if (field === undefined) return;
    let frames = 0;
    let timer = 0;
    const look = (): void => {
      const found = elementAt(field);
      frames += 1;
      if (found?.dataset.path !== field && frames < mostFrames) {
        timer = window.requestAnimationFrame(look);
        return;
      }
      wanted.set(undefined);
      const details = found?.closest('details');
      if (details) details.open = true;
      found?.scrollIntoView({ block: 'center' });
      found?.focus({ preventScroll: true });
    };
    timer = window.requestAnimationFrame(look);
    return () => window.cancelAnimationFrame(timer);
  }, [field]);
};

/** The control for the path, or the nearest one around it. */
const elementAt = (path: string): HTMLElement | undefined => {
  const marked = [...document.querySelectorAll<HTMLElement>('[data-path]')];
  const around = marked.filter(({ dataset }) => isWithin(path, dataset.path ?? ''));
  return around.sort((one, other) => (other.dataset.path?.length ?? 0) - (one.dataset.path?.length ?? 0))[0];
};
