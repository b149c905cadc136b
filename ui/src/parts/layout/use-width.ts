import { useCallback, useState } from 'react';

/** An element's content width in pixels; 0 until it is rendered. Pass the returned `ref` to it. */
export const useWidth = (): readonly [
  ref: (element: HTMLElement | null) => (() => void) | undefined,
  width: number,
] => {
  const [width, setWidth] = useState(0);
  const ref = useCallback((element: HTMLElement | null) => {
    if (!element) return undefined;
    const resized = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  return [ref, width];
};
