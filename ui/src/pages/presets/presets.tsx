import type { PageProps } from '../page.ts';
import { PresetEditor } from './preset-editor.tsx';
import { PresetList } from './preset-list.tsx';
import './presets.css';

/** Other routes under addresses of their own: the list of them, or the one that the address names. */
export const Presets = ({ rest: [name] }: PageProps) =>
  name === undefined ? <PresetList /> : <PresetEditor key={name} name={name} />;
