import { kept } from '../state/kept.ts';
import { createStore } from '../state/store.ts';

/** The selected theme, or the system's. */
type Theme = 'system' | 'light' | 'dark';

/** All themes, in display order. */
export const themes: readonly Theme[] = ['system', 'light', 'dark'];

const place = kept('local', 'theme');

/** The selected theme; kept by the browser. */
export const theme = createStore<Theme>(themes.find((one) => one === place.read()) ?? 'system');

/** Applies the theme now and after each change. */
export const followTheme = (): void => {
  const apply = (): void => {
    const picked = theme.get();
    if (picked === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = picked;
    place.write(picked === 'system' ? undefined : picked);
  };
  apply();
  theme.subscribe(apply);
};
