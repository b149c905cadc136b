import type { PageProps } from '../page.ts';
import { PresetEditor } from './preset-editor.tsx';
import { PresetList } from './preset-list.tsx';
import './presets.css';

/** The presets page: the list, or the preset that the address names. */
export const Presets = ({ rest: [name], query }: PageProps) =>
  name === undefined ? <PresetList /> : <PresetEditor key={name} name={name} query={query} />;
