import { Icon } from '../parts/controls/button.tsx';
import { Segmented } from '../parts/controls/segmented.tsx';
import { useStore } from '../state/store.ts';
import { theme, themes } from './theme.ts';
import './navigation.css';

const titles = { system: 'System', light: 'Light', dark: 'Dark' } as const;

/** Picks the theme. */
export const ThemeSwitch = () => (
  <Segmented
    label="Theme"
    value={useStore(theme)}
    onChange={theme.set}
    options={themes.map((value) => ({
      value,
      label: (
        <span className="theme-choice" title={titles[value]}>
          <Icon name={value} />
          <span className="unseen">{titles[value]}</span>
        </span>
      ),
    }))}
  />
);
